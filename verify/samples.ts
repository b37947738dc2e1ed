import { z } from 'zod'

/** The texts, tools, schema and picture used in the requests of all formats. */

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

/** Defines a sample tool in JSON Schema. */
export function sampleTool(name: string): { name: string; description: string; parameters: object } {
  return { name, description: descriptions[name] ?? name, parameters }
}

export const toolInput = z.object({ city: z.string() })

/** No other properties are allowed and all are required, because strict mode demands both. */
export const sampleSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, country: { type: 'string' } },
  required: ['city', 'country'],
  additionalProperties: false,
}

export const structured = z.object({ city: z.string(), country: z.string() })

/** A red square of 256 x 256 pixels. Vendors refuse tiny images, and this size is counted in tokens. */
export const redPng =
  'iVBORw0KGgoAAAANSUhEUgAAAQAAAAEACAMAAABrrFhUAAAAA1BMVEXcFBQXnfKmAAAAVElEQVR42u3BAQEAAACAkP6v7ggK' +
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGAEPAAEccgnD' +
  'AAAAAElFTkSuQmCC'

/** A PDF with one page and one sentence: `The secret word is PELICAN.` */
export const wordPdf =
  'JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIFI+PgplbmRvYmoKMiAwIG9iago8PC9UeXBlL1BhZ2Vz' +
  'L0tpZHNbMyAwIFJdL0NvdW50IDE+PgplbmRvYmoKMyAwIG9iago8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlhQm94WzAg' +
  'MCAzMDAgMTQ0XS9Db250ZW50cyA0IDAgUi9SZXNvdXJjZXM8PC9Gb250PDwvRjEgNSAwIFI+Pj4+Pj4KZW5kb2JqCjQgMCBvYmoK' +
  'PDwvTGVuZ3RoIDU3Pj5zdHJlYW0KQlQgL0YxIDE4IFRmIDIwIDcwIFRkIChUaGUgc2VjcmV0IHdvcmQgaXMgUEVMSUNBTi4pIFRq' +
  'IEVUCmVuZHN0cmVhbQplbmRvYmoKNSAwIG9iago8PC9UeXBlL0ZvbnQvU3VidHlwZS9UeXBlMS9CYXNlRm9udC9IZWx2ZXRpY2E+' +
  'PgplbmRvYmoKeHJlZgowIDYKMDAwMDAwMDAwMCA2NTUzNSBmIAowMDAwMDAwMDA5IDAwMDAwIG4gCjAwMDAwMDAwNTQgMDAwMDAg' +
  'biAKMDAwMDAwMDEwNSAwMDAwMCBuIAowMDAwMDAwMjE3IDAwMDAwIG4gCjAwMDAwMDAzMjEgMDAwMDAgbiAKdHJhaWxlcgo8PC9T' +
  'aXplIDYvUm9vdCAxIDAgUj4+CnN0YXJ0eHJlZgozODQKJSVFT0YK'
