import type { Usage } from '../canonical/usage.ts'
import type { Model, Price } from '../catalog/snapshot.ts'

/** What a request cost, nano-USD; the parts add up to the total exactly. */
export interface CostParts {
  input: bigint
  cacheRead: bigint
  cacheWrite: bigint
  output: bigint
  reasoning: bigint
  total: bigint
}

/** What is known of a request's size before it is sent. */
export interface RequestSize {
  bodyBytes: number
  /** True when bytes do not bound the input tokens: images, audio, files. */
  hasMedia: boolean
  maxOutputTokens: number | undefined
  choices: number
}

/**
 * Tokens times price times the group's multiplier (a decimal string), each part rounded half up to a nano-USD.
 * Undefined when a part that has tokens has no price: unknown is never 0.
 */
export function priceRequest(usage: Usage, price: Price, multiplier: string): CostParts | undefined {
  const rate = parseMultiplier(multiplier)
  const input = part(usage.input, price.input, rate)
  const cacheRead = part(usage.cacheRead, price.cacheRead ?? price.input, rate)
  const cacheWrite = part(usage.cacheWrite, price.cacheWrite ?? price.input, rate)
  const output = part(usage.output, price.output, rate)
  const reasoning = part(usage.reasoning, price.reasoning ?? price.output, rate)
  if (
    input === undefined ||
    cacheRead === undefined ||
    cacheWrite === undefined ||
    output === undefined ||
    reasoning === undefined
  ) {
    return undefined
  }
  const total = input + cacheRead + cacheWrite + output + reasoning
  return { input, cacheRead, cacheWrite, output, reasoning, total }
}

/**
 * The most that a request may cost, nano-USD, to be reserved before it is sent. A token holds one byte or more, so
 * the body's bytes bound the input tokens (not those of media: then the model's context does). All at the dearest
 * rate of its side. Undefined when it cannot be bounded: a price, the context length or the output is not known.
 */
export function worstCaseNano(size: RequestSize, model: Model, multiplier: string): bigint | undefined {
  const { price, contextLength } = model
  const inputPrice = dearest(price?.input, price?.cacheRead, price?.cacheWrite)
  const outputPrice = dearest(price?.output, price?.reasoning)
  const inputTokens = size.hasMedia
    ? contextLength
    : Math.min(size.bodyBytes, contextLength ?? size.bodyBytes)
  const choiceTokens = size.maxOutputTokens ?? model.maxOutputTokens ?? contextLength
  if (
    inputPrice === undefined ||
    outputPrice === undefined ||
    inputTokens === undefined ||
    choiceTokens === undefined
  ) {
    return undefined
  }
  const rate = parseMultiplier(multiplier)
  const perMillion =
    BigInt(inputTokens) * inputPrice + BigInt(size.choices) * BigInt(choiceTokens) * outputPrice
  // Settling rounds five parts, each up by half a nano-USD at most.
  return ceilDivide(perMillion * rate.digits, million * rate.scale) + roundingNano
}

interface Multiplier {
  digits: bigint
  /** Power of ten. */
  scale: bigint
}

/** Read `"1.25"` as 125 / 100. Throws an Error when it is no plain decimal number: a bug of who let it in. */
export function parseMultiplier(text: string): Multiplier {
  const known = multipliers.get(text)
  if (known !== undefined) return known
  const match = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text)
  if (match === null)
    throw new Error(`price multiplier: expected a decimal number, got ${JSON.stringify(text)}`)
  const decimals = match[2] ?? ''
  const parsed = { digits: BigInt(`${match[1]}${decimals}`), scale: 10n ** BigInt(decimals.length) }
  // There are as many as groups ever had values; the bound is for the unforeseen.
  if (multipliers.size >= multipliersMax) multipliers.clear()
  multipliers.set(text, parsed)
  return parsed
}

const multipliers = new Map<string, Multiplier>()
const multipliersMax = 1000
const million = 1_000_000n
const roundingNano = 3n

function part(tokens: number, perMillion: bigint | undefined, rate: Multiplier): bigint | undefined {
  if (tokens === 0) return 0n
  if (perMillion === undefined) return undefined
  const divisor = million * rate.scale
  return (BigInt(tokens) * perMillion * rate.digits * 2n + divisor) / (2n * divisor)
}

/** The first price has to be known: the others fall back to it. */
function dearest(first: bigint | undefined, ...others: (bigint | undefined)[]): bigint | undefined {
  if (first === undefined) return undefined
  return others.reduce<bigint>((most, price) => (price !== undefined && price > most ? price : most), first)
}

function ceilDivide(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor
}
