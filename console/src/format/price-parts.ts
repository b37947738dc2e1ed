interface PricePart {
  title: string
  unit: 'per million tokens' | 'per million' | 'each'
  /** The part whose price applies where this one has none. */
  usual?: string
  /** Whether every table of prices has a column for it. */
  isColumn?: true
}

/**
 * The words for each part of a price, in the order of the pages. A part without words stands as the API has
 * it.
 */
const parts: Readonly<Record<string, PricePart>> = {
  input: { title: 'Input', unit: 'per million tokens', isColumn: true },
  cache_read: { title: 'Cached input', unit: 'per million tokens', usual: 'input', isColumn: true },
  cache_write: { title: 'Cache write', unit: 'per million tokens', usual: 'input', isColumn: true },
  cache_write_1h: { title: 'Cache write for an hour', unit: 'per million tokens', usual: 'cache_write' },
  output: { title: 'Output', unit: 'per million tokens', isColumn: true },
  reasoning: { title: 'Reasoning', unit: 'per million tokens', usual: 'output', isColumn: true },
  audio_input: { title: 'Audio input', unit: 'per million tokens', usual: 'input' },
  audio_output: { title: 'Audio output', unit: 'per million tokens', usual: 'output' },
  image: { title: 'Image', unit: 'each', isColumn: true },
  web_search: { title: 'Web search', unit: 'each' },
  input_characters: { title: 'Characters of input', unit: 'per million' },
  request: { title: 'Request', unit: 'each' },
}

export const priceParts = Object.entries(parts).map(([part, words]) => ({ part, ...words }))

export const titleOfPart = (part: string): string | undefined => parts[part]?.title
