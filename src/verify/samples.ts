import { z } from 'zod'

/** The texts, tools, schema and picture that all formats ask with. */

export const hello = 'Reply with the one word: hello'

const parameters = {
  type: 'object',
  properties: { city: { type: 'string', description: 'The name of the city' } },
  required: ['city'],
  additionalProperties: false,
}

const descriptions: Readonly<Record<string, string>> = {
  get_weather: 'The weather in a city now',
  get_time: 'The time of day in a city now',
}

/** A tool of the samples in JSON Schema. */
export function sampleTool(name: string): { name: string; description: string; parameters: object } {
  return { name, description: descriptions[name] ?? name, parameters }
}

export const toolInput = z.object({ city: z.string() })

/** Closed, and every property required: strict mode demands both. */
export const sampleSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, country: { type: 'string' } },
  required: ['city', 'country'],
  additionalProperties: false,
}

export const structured = z.object({ city: z.string(), country: z.string() })

/** A red square of 256 x 256 pixels: vendors refuse tiny pictures, and this has a size that they count. */
export const redPng =
  'iVBORw0KGgoAAAANSUhEUgAAAQAAAAEACAMAAABrrFhUAAAAA1BMVEXcFBQXnfKmAAAAVElEQVR42u3BAQEAAACAkP6v7ggK' +
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGAEPAAEccgnD' +
  'AAAAAElFTkSuQmCC'
