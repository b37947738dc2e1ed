/**
 * Everything that a price can have a rate for. This is the only list of them: the settings of gateway.yaml,
 * rows, the API, the price library, usages and costs are derived from it, and a new unit is one entry. Only
 * the pages have words of their own for it, in console/src/format/price-parts.ts.
 */
const list = [
  { name: 'input', word: 'input', library: 'input_mtok', per: 'million tokens' },
  { name: 'output', word: 'output', library: 'output_mtok', per: 'million tokens' },
  {
    name: 'cacheRead',
    word: 'cache_read',
    library: 'cache_read_mtok',
    per: 'million tokens',
    otherwise: 'input',
  },
  {
    name: 'cacheWrite',
    word: 'cache_write',
    library: 'cache_write_mtok',
    per: 'million tokens',
    otherwise: 'input',
  },
  {
    name: 'cacheWrite1h',
    word: 'cache_write_1h',
    library: 'cache_write_1h_mtok',
    per: 'million tokens',
    otherwise: 'cacheWrite',
    about: 'The price of writing tokens that the vendor caches for an hour.',
    count: { name: 'cacheWrite1h', word: 'cache_write_1h', within: 'cacheWrite' },
  },
  {
    name: 'reasoning',
    word: 'reasoning',
    library: 'output_reasoning_mtok',
    per: 'million tokens',
    otherwise: 'output',
  },
  {
    name: 'audioInput',
    word: 'audio_input',
    library: 'input_audio_mtok',
    per: 'million tokens',
    otherwise: 'input',
    count: { name: 'audioInput', word: 'audio_input', within: 'input' },
  },
  {
    name: 'audioOutput',
    word: 'audio_output',
    library: 'output_audio_mtok',
    per: 'million tokens',
    otherwise: 'output',
    count: { name: 'audioOutput', word: 'audio_output', within: 'output' },
  },
  {
    name: 'webSearch',
    word: 'web_search',
    library: 'web_searches_kcount',
    per: 'one',
    about: 'The price per search.',
    // A higher number of searches in one answer is not credible.
    count: { name: 'webSearches', word: 'web_searches', max: 10_000 },
  },
  {
    name: 'inputCharacters',
    word: 'input_characters',
    library: 'input_mchars',
    per: 'million',
    replacesTokens: true,
    about: 'The price per million characters of input, in place of the prices of tokens.',
    count: { name: 'inputCharacters', word: 'input_characters' },
  },
  {
    name: 'request',
    word: 'request',
    library: 'requests_kcount',
    per: 'one',
    about: 'The fee per request. Null if there is none.',
  },
] as const satisfies readonly Part<string, string, string>[]

interface Part<Name extends string, Word extends string, Count extends string> {
  /** The member of `Rates`. */
  name: Name
  /** The name in gateway.yaml, in rows and in the API. */
  word: Word
  /** The key in the price library. */
  library: string
  /** What the rate is for. */
  per: 'million tokens' | 'million' | 'one'
  /** True if a price with this rate charges nothing for the tokens of a request that has such a count. */
  replacesTokens?: true
  /** The part whose rate applies if there is none. */
  otherwise?: Name
  /** A description for the API, if the word does not suffice. */
  about?: string
  /**
   * How much of it an answer used: a member of `Usage`, and a part of `cost_facts` in a row. Absent for the
   * tokens that have a column, and for what every request has once.
   */
  count?: {
    name: Count
    word: string
    /** The count that includes this one; absent: none. */
    within?: 'input' | 'output' | 'cacheWrite'
    /** A larger count is not credible. */
    max?: number
  }
}

export type RateName = (typeof list)[number]['name']
export type RateWord = (typeof list)[number]['word']
/** The counts of a usage beyond the tokens that have a column in the usage log. */
export type RefinedCount = Extract<(typeof list)[number], { count: object }>['count']['name']

export type PricePart = Part<RateName, RateWord, RefinedCount>

export const priceParts: readonly PricePart[] = list

/** The prices of the parts of a request, in nano-USD per `per`. Undefined: not known, never free. */
export type Rates = { [Name in RateName]?: bigint | undefined }

/** Absent: 0, or not known. */
export type Counts = { [Name in RefinedCount]?: number }

/** All counts beyond the tokens that have a column. */
export const refinedCounts = priceParts.flatMap(({ count }) => count ?? [])

/** The counts above 0, as members of `Usage`. */
export function refined(counts: { [Name in RefinedCount]?: number | undefined }): Counts {
  return countsBy(({ name }) => counts[name])
}

/** Each count above 0. */
export function countsBy(countOf: (count: NonNullable<PricePart['count']>) => number | undefined): Counts {
  const counts: Counts = {}
  for (const each of refinedCounts) {
    const count = countOf(each)
    if (count) counts[each.name] = count
  }
  return counts
}

export function ratesBy(rateOf: (part: PricePart) => bigint | undefined): Rates {
  const rates: Rates = {}
  for (const part of priceParts) rates[part.name] = rateOf(part)
  return rates
}

/** An object with a member for each part, named as in gateway.yaml and the API. */
export function byWord<Value>(memberOf: (part: PricePart) => Value): Record<RateWord, Value> {
  return Object.fromEntries(priceParts.map((part) => [part.word, memberOf(part)])) as Record<RateWord, Value>
}

/** The rate that applies to a part: its own, otherwise that of the part that it belongs to. */
export function rateOf(rates: Rates, name: RateName): bigint | undefined {
  let applied: RateName | undefined = name
  while (applied !== undefined) {
    const rate = rates[applied]
    if (rate !== undefined) return rate
    applied = partNamed.get(applied)?.otherwise
  }
  return undefined
}

const partNamed = new Map(priceParts.map((part) => [part.name, part]))
