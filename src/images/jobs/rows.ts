import type { Price } from '../../catalog/snapshot.ts'
import type { ImageJob, JobQuote } from './job.ts'
import type { JobRow } from './queries.ts'

/** The job of a row. Its JSON is our own. */
export function jobOf({ quote, opened, attempts, partials, result, error, cost, ...row }: JobRow): ImageJob {
  return {
    ...row,
    quote: quoteOf(quote),
    opened: JSON.parse(opened),
    attempts: JSON.parse(attempts),
    partials: JSON.parse(partials),
    result: result === null ? null : JSON.parse(result),
    error: error === null ? null : JSON.parse(error),
    costNano: cost,
  }
}

/** JSON text: money as decimal digits with an `n` behind them. */
export function quoteText(quote: JobQuote): string {
  return JSON.stringify(quote, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

function quoteOf(text: string): JobQuote {
  const quote = JSON.parse(text, (key, value: unknown) =>
    typeof value === 'string' && moneyMembers.has(key) && /^-?\d+n$/.test(value)
      ? BigInt(value.slice(0, -1))
      : value,
  )
  // JSON leaves out members that are undefined: put them back, for exactOptionalPropertyTypes.
  return {
    ...noQuote,
    ...quote,
    price: quote.price === undefined ? undefined : { ...noPrice, ...quote.price },
  }
}

const moneyMembers: ReadonlySet<string> = new Set([
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'image',
  'nano',
] satisfies (keyof Price | 'nano')[])

const noQuote = { price: undefined, size: undefined, quality: undefined, delivery: undefined }
const noPrice = {
  input: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  image: undefined,
}
