import type { Json } from '../canonical/json.ts'

/** A tool that a vendor defines and the client runs, as a function. */
export interface OwnFunction {
  /** For the model, which does not know the vendor's tool. */
  description: string
  /** JSON Schema. */
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
