import type { Json } from '../canonical/json.ts'

/** A tool that a vendor defines and the client runs, in the form of a function. */
export interface OwnFunction {
  /** The description for the model, which does not know the vendor's tool. */
  description: string
  /** The JSON Schema of the input. */
  parameters: Json
}

export function objectSchema(properties: Json, ...required: string[]): Json {
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}

export function textSchema(description: string): Json {
  return { type: 'string', description }
}

export function wordSchema(words: readonly string[]): Json {
  return { type: 'string', enum: words }
}

export function listSchema(items: Json, description: string): Json {
  return { type: 'array', items, description }
}
