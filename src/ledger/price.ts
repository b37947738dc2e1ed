import type { Usage } from '../canonical/usage.ts'
import type { Model, Price } from '../catalog/snapshot.ts'
import { clamp, int4 } from './column.ts'

/** What a request cost, nano-USD; the parts add up to the total exactly, unless that is `costNanoMax`. */
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

/** The most that one request costs, whatever its upstream says: a million USD. Thousands of them can be added up. */
export const costNanoMax = 10n ** 15n

/** Counts as the usage log keeps them. An upstream may tell anything: they are bounded before anything is made of them. */
export function boundedUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): Usage {
  return {
    input: clamp(input, int4.max),
    cacheRead: clamp(cacheRead, int4.max),
    cacheWrite: clamp(cacheWrite, int4.max),
    output: clamp(output, int4.max),
    reasoning: clamp(reasoning, int4.max),
  }
}

/**
 * Tokens times price times the group's multiplier (a decimal string), each part rounded half up to a nano-USD; in all at
 * most `costNanoMax`. Undefined when a part that has tokens has no price: unknown is never 0.
 */
export function priceRequest(reported: Usage, price: Price, multiplier: string): CostParts | undefined {
  const usage = boundedUsage(reported)
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
  const total = atMost(input + cacheRead + cacheWrite + output + reasoning)
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
  // An answer without output tokens, such as an embedding, needs no price for them.
  const outputPrice = size.maxOutputTokens === 0 ? 0n : dearest(price?.output, price?.reasoning)
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

/** Images that were made, or are to be. */
export interface PricedImages {
  count: number
  /** As asked for. Undefined or `auto`: the upstream chooses. */
  size: string | undefined
  quality: string | undefined
}

/** As `CostParts`, with what was paid by the image. */
export interface ImageCostParts extends CostParts {
  image: bigint
}

/**
 * The cost of images: by the image if the price has any price of images, otherwise by their tokens. The client pays for the
 * size and quality that it asked for, whatever the upstream reports, so that it never pays more than was held. If it left
 * them to the upstream, it pays for those that the upstream `reported`, or else for the dearest possible ones.
 * Undefined when that has no price, or the tokens are not known.
 */
export function priceImages(
  made: PricedImages & {
    reported?: { size: string | undefined; quality: string | undefined } | undefined
    usage: Usage | undefined
  },
  price: Price | undefined,
  multiplier: string,
): ImageCostParts | undefined {
  if (price === undefined) return undefined
  if (!hasImagePrice(price)) {
    const cost = made.usage === undefined ? undefined : priceRequest(made.usage, price, multiplier)
    return cost === undefined ? undefined : { ...cost, image: 0n }
  }
  const size = chosen(made.size) ?? made.reported?.size
  const quality = chosen(made.quality) ?? made.reported?.quality
  const each = dearestImageNano(price, size, quality)
  if (each === undefined) return undefined
  const image = imagesNano(made.count, each, multiplier)
  return { input: 0n, cacheRead: 0n, cacheWrite: 0n, output: 0n, reasoning: 0n, image, total: image }
}

/**
 * The most that a job may cost, nano-USD, to be reserved before it is accepted: never less than `priceImages` answers
 * for it, given that no image takes more tokens than the model's bounds. `bodyBytes`: the largest body that one call
 * may be sent for it; `hasMore`: it may be sent more, so that only the model's context bounds its tokens. Undefined when it cannot be bounded.
 */
export function worstCaseImagesNano(
  {
    count,
    size,
    quality,
    bodyBytes,
    hasMore = false,
  }: PricedImages & { bodyBytes: number; hasMore?: boolean },
  model: Model,
  multiplier: string,
): bigint | undefined {
  const { price } = model
  if (hasImagePrice(price)) {
    const each = dearestImageNano(price, size, quality)
    return each === undefined ? undefined : imagesNano(count, each, multiplier)
  }
  // Where an upstream makes one image at a time, each has a call of its own, with the whole prompt.
  const call = { bodyBytes, hasMedia: hasMore, maxOutputTokens: undefined, choices: 1 }
  const most = worstCaseNano(call, model, multiplier)
  return most === undefined ? undefined : BigInt(count) * most
}

/**
 * The highest of the prices that an image may come to have when the upstream chooses what is undefined or `auto`.
 * Nano-USD; undefined when no price may come to apply.
 */
export function dearestImageNano(
  price: Price | undefined,
  size: string | undefined,
  quality: string | undefined,
): bigint | undefined {
  // Each rate applies, if ever, where the upstream chooses just what it names; the first is for what no rate names.
  const choices = [{ size: undefined, quality: undefined }, ...(price?.imageRates ?? [])]
  return choices
    .map((choice) => imagePriceNano(price, chosen(size) ?? choice.size, chosen(quality) ?? choice.quality))
    .reduce(
      (most, each) => (most === undefined || (each !== undefined && each > most) ? each : most),
      undefined,
    )
}

/**
 * Of one image whose size and quality are known, in nano-USD: the rate that names both, else its size, else its
 * quality, else the price of any image. Undefined here is a size or quality that no rate names.
 */
export function imagePriceNano(
  price: Price | undefined,
  size: string | undefined,
  quality: string | undefined,
): bigint | undefined {
  const rateOf = (size: string | undefined, quality: string | undefined) =>
    price?.imageRates.find((rate) => rate.size === size && rate.quality === quality)?.nano
  return rateOf(size, quality) ?? rateOf(size, undefined) ?? rateOf(undefined, quality) ?? price?.image
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
  return roundHalfUp(BigInt(tokens) * perMillion * rate.digits, million * rate.scale)
}

function imagesNano(count: number, each: bigint, multiplier: string): bigint {
  const rate = parseMultiplier(multiplier)
  return atMost(roundHalfUp(BigInt(count) * each * rate.digits, rate.scale))
}

function atMost(costNano: bigint): bigint {
  return costNano > costNanoMax ? costNanoMax : costNano
}

function roundHalfUp(amount: bigint, divisor: bigint): bigint {
  return (amount * 2n + divisor) / (2n * divisor)
}

function hasImagePrice(price: Price | undefined): boolean {
  return price !== undefined && (price.image !== undefined || price.imageRates.length > 0)
}

/** What the client itself chose. */
const chosen = (word: string | undefined) => (word === 'auto' ? undefined : word)

/** The first price has to be known: the others fall back to it. */
function dearest(first: bigint | undefined, ...others: (bigint | undefined)[]): bigint | undefined {
  if (first === undefined) return undefined
  return others.reduce<bigint>((most, price) => (price !== undefined && price > most ? price : most), first)
}

function ceilDivide(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor
}

/** USD as a plain decimal, exactly: 2500000000n is `2.5`. */
export function usd(nano: bigint): string {
  if (nano < 0n) return `-${usd(-nano)}`
  const digits = nano.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
