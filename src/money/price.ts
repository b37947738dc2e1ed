import { type Counts, priceParts, type RateName, type Rates, rateOf } from '../canonical/price-parts.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Model, Price } from '../catalog/snapshot.ts'
import { boundedUsage } from './bounded-usage.ts'
import { possibleRates, ratesOf } from './rates.ts'

export { usd } from '../canonical/usd.ts'

/** The cost of a request in nano-USD. The total is the exact sum of the parts, limited to `costNanoMax`. */
export interface CostParts {
  input: bigint
  cacheRead: bigint
  cacheWrite: bigint
  output: bigint
  reasoning: bigint
  /** What is not counted in tokens, such as web searches, and the fee per request. Absent: none. */
  fees?: bigint
  /** Tokens of other models. Absent: none. */
  others?: bigint
  total: bigint
}

/** The size of a request, as known before it is sent. */
export interface RequestSize {
  bodyBytes: number
  /** True if there may be input beyond the body, so that the body's size does not limit the input tokens. */
  hasHiddenInput: boolean
  maxOutputTokens: number | undefined
  choices: number
  /** How often the vendor may read the whole input and write a whole answer. Default 1. */
  passes?: number
  /** The most that it uses of what is not counted in tokens, such as web searches. Default 0. */
  counts?: Counts
  /** The time of the request, in ms since the epoch. */
  at: number
}

/** Facts other than tokens that affect the cost of a request. */
export interface CostContext {
  /** The time of the request, in ms since the epoch, which can affect its price. */
  at: number
  /**
   * The cost of other models that worked on the same answer, in nano-USD; undefined if unknown. Default 0.
   */
  others?: bigint | undefined
}

/**
 * The maximum cost of one request, even if its upstream reports more: a million USD. A Postgres bigint can
 * hold thousands of these.
 */
export const costNanoMax = 10n ** 15n

/**
 * Tokens times price times the group's multiplier (a decimal string). Each part is rounded half up to a
 * nano-USD, and the total is limited to `costNanoMax`. Undefined if a part with tokens has no price: an
 * unknown cost is never 0.
 */
export function priceRequest(
  reported: Usage,
  price: Price,
  multiplier: string,
  context: CostContext,
): CostParts | undefined {
  const usage = boundedUsage(reported)
  const others = 'others' in context ? context.others : 0n
  const rates = ratesOf(price, {
    inputTokens: usage.input + usage.cacheRead + usage.cacheWrite,
    serviceTier: usage.serviceTier,
    at: context.at,
  })
  const rate = parseMultiplier(multiplier)
  const tokens: Usage = replacesTokens(rates, usage) ? noTokens : usage
  const { cacheWrite1h = 0, audioInput = 0, audioOutput = 0 } = tokens
  const at = (name: RateName) => rateOf(rates, name)
  const input = part(rate, [tokens.input - audioInput, rates.input], [audioInput, at('audioInput')])
  const cacheRead = part(rate, [tokens.cacheRead, at('cacheRead')])
  const cacheWrite = part(
    rate,
    [tokens.cacheWrite - cacheWrite1h, at('cacheWrite')],
    [cacheWrite1h, at('cacheWrite1h')],
  )
  const output = part(rate, [tokens.output - audioOutput, rates.output], [audioOutput, at('audioOutput')])
  const reasoning = part(rate, [tokens.reasoning, at('reasoning')])
  const feesBeforeGroup = feesOf(rates, usage)
  if (
    input === undefined ||
    cacheRead === undefined ||
    cacheWrite === undefined ||
    output === undefined ||
    reasoning === undefined ||
    feesBeforeGroup === undefined ||
    others === undefined
  ) {
    return undefined
  }
  const fees = roundHalfUp(feesBeforeGroup * rate.digits, million * rate.scale)
  const total = atMost(input + cacheRead + cacheWrite + output + reasoning + fees + others)
  return {
    input,
    cacheRead,
    cacheWrite,
    output,
    reasoning,
    ...(fees === 0n ? {} : { fees }),
    ...(others === 0n ? {} : { others }),
    total,
  }
}

/** Whether these counts alone determine the cost of a request at a price, whatever tokens it used. */
export function costsNoTokens(price: Price | undefined, counts: Counts | undefined, at: number): boolean {
  if (price === undefined || counts === undefined) return false
  return replacesTokens(ratesOf(price, { inputTokens: 0, serviceTier: undefined, at }), counts)
}

/**
 * The maximum cost of a request in nano-USD, which is reserved before the request is sent. A token has at
 * least one byte, so the size of the body limits the input tokens; with hidden input, the model's context
 * length does. All input tokens are priced at the highest input rate and all output tokens at the highest
 * output rate of all tiers that can apply. No token counts where another rate replaces theirs. Undefined if a
 * price, the context length or the output limit is unknown.
 */
export function worstCaseNano(
  size: RequestSize,
  model: Pick<Model, 'price' | 'contextLength' | 'maxOutputTokens'>,
  multiplier: string,
): bigint | undefined {
  const { price, contextLength } = model
  const { passes = 1, counts = {}, at } = size
  const inputTokens = size.hasHiddenInput
    ? contextLength
    : Math.min(size.bodyBytes, contextLength ?? size.bodyBytes)
  const choiceTokens = size.maxOutputTokens ?? model.maxOutputTokens ?? contextLength
  if (price === undefined) return undefined
  const possible = possibleRates(price, (inputTokens ?? Number.POSITIVE_INFINITY) * passes, at)
  const fees = dearestOf(possible, (rates) => feesOf(rates, counts))
  if (fees === undefined) return undefined
  const rate = parseMultiplier(multiplier)
  const feesNano = ceilDivide(fees * rate.digits, million * rate.scale)
  const byTokens = possible.filter((rates) => !replacesTokens(rates, counts))
  if (byTokens.length === 0) return feesNano
  if (inputTokens === undefined || choiceTokens === undefined) return undefined
  const inputPrice = dearestOf(byTokens, ({ input, cacheRead, cacheWrite, cacheWrite1h, audioInput }) =>
    dearest(input, cacheRead, cacheWrite, cacheWrite1h, audioInput),
  )
  // An answer without output tokens, such as an embedding, needs no output price.
  const outputPrice =
    size.maxOutputTokens === 0
      ? 0n
      : dearestOf(byTokens, ({ output, reasoning, audioOutput }) => dearest(output, reasoning, audioOutput))
  if (inputPrice === undefined || outputPrice === undefined) return undefined
  const perPass = BigInt(inputTokens) * inputPrice + BigInt(size.choices) * BigInt(choiceTokens) * outputPrice
  const tokens = ceilDivide(BigInt(passes) * perPass * rate.digits, million * rate.scale)
  // The final cost has six rounded parts, each of which can be up to half a nano-USD too high.
  return tokens + feesNano + roundingNano
}

/** What `worstCaseNano` needs but the model lacks; the first such item for a request. */
export type MissingBound =
  | 'price'
  | 'input price'
  | 'output price'
  | 'search price'
  | 'image price'
  | 'output'
  | 'context'

/** Why `worstCaseNano` is undefined for the same request; undefined if it is not. */
export function missingBound(
  size: RequestSize,
  { price, contextLength, maxOutputTokens }: Pick<Model, 'price' | 'contextLength' | 'maxOutputTokens'>,
): MissingBound | undefined {
  if (price === undefined) return 'price'
  if (worstCaseNano(size, { price, contextLength, maxOutputTokens }, '1') !== undefined) return undefined
  if ((size.maxOutputTokens ?? maxOutputTokens ?? contextLength) === undefined) return 'output'
  if (size.hasHiddenInput && contextLength === undefined) return 'context'
  const known = { ...size, hasHiddenInput: false, counts: {} }
  const isBounded = (of: Partial<RequestSize>) =>
    worstCaseNano({ ...known, ...of }, { price, contextLength, maxOutputTokens }, '1') !== undefined
  if (!isBounded({ maxOutputTokens: 0 })) return 'input price'
  if (!isBounded({})) return 'output price'
  return isBounded({ counts: size.counts ?? {} }) ? undefined : 'search price'
}

/** Images, before or after they are generated. */
export interface PricedImages {
  count: number
  /** The size given in the request. Undefined or `auto`: the upstream chooses. */
  size: string | undefined
  quality: string | undefined
  /** The time of their request, or of their completion, in ms since the epoch. */
  at: number
}

/** Like `CostParts`, with an additional part for prices per image. */
export interface ImageCostParts extends CostParts {
  image: bigint
}

/**
 * The cost of images: per image if the price has any image price, otherwise by tokens. Either way, the fee
 * per request is added. The client pays for the requested size and quality, even if the upstream reports
 * others, so it never pays more than was held. If it left them to the upstream, it pays for those that the
 * upstream `reported`, or otherwise for the most expensive possible ones. Undefined if there is no price for
 * that, or the tokens are unknown.
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
    const cost =
      made.usage === undefined ? undefined : priceRequest(made.usage, price, multiplier, { at: made.at })
    return cost === undefined ? undefined : { ...cost, image: 0n }
  }
  const size = chosen(made.size) ?? made.reported?.size
  const quality = chosen(made.quality) ?? made.reported?.quality
  const each = dearestImageNano(price, size, quality)
  if (each === undefined) return undefined
  const image = imagesNano(made.count, each, multiplier)
  const fee = priceRequest(noTokens, price, multiplier, { at: made.at })
  return fee && { ...fee, image, total: atMost(image + fee.total) }
}

/**
 * The maximum cost of a job in nano-USD, which is reserved before the job is accepted. It is never less than
 * the later result of `priceImages`, provided that no image uses more tokens than the model's limits.
 * `bodyBytes` is the largest body of one call. `hasMore` means that a call can send more than its body, so
 * that only the model's context limits its tokens. Undefined if there is no limit.
 */
export function worstCaseImagesNano(
  {
    count,
    size,
    quality,
    at,
    bodyBytes,
    hasMore = false,
  }: PricedImages & { bodyBytes: number; hasMore?: boolean },
  model: Model,
  multiplier: string,
): bigint | undefined {
  const { price } = model
  if (hasImagePrice(price)) {
    const each = dearestImageNano(price, size, quality)
    if (price === undefined || each === undefined) return undefined
    const { digits, scale } = parseMultiplier(multiplier)
    const fee = dearestOf(possibleRates(price, 0, at), (rates) => feesOf(rates, {})) ?? 0n
    return imagesNano(count, each, multiplier) + ceilDivide(fee * digits, million * scale)
  }
  // Some upstreams generate one image per call, so each call sends the whole prompt.
  const most = worstCaseNano(imageCallSize(bodyBytes, hasMore, at), model, multiplier)
  return most === undefined ? undefined : BigInt(count) * most
}

/** Why `worstCaseImagesNano` is undefined for the same images; undefined if it is not. */
export function missingImageBound(
  { size, quality, at, bodyBytes, hasMore = false }: PricedImages & { bodyBytes: number; hasMore?: boolean },
  model: Model,
): MissingBound | undefined {
  if (hasImagePrice(model.price))
    return dearestImageNano(model.price, size, quality) === undefined ? 'image price' : undefined
  return missingBound(imageCallSize(bodyBytes, hasMore, at), model)
}

function imageCallSize(bodyBytes: number, hasHiddenInput: boolean, at: number): RequestSize {
  return { bodyBytes, hasHiddenInput, maxOutputTokens: undefined, choices: 1, at }
}

/**
 * The highest possible price of an image, in nano-USD, if the upstream chooses a size or quality that is
 * undefined or `auto`. Undefined if no price can apply.
 */
export function dearestImageNano(
  price: Price | undefined,
  size: string | undefined,
  quality: string | undefined,
): bigint | undefined {
  // The upstream can choose the size and quality of any rate, or others that no rate names, which are the
  // first choice in the list.
  const choices = [{ size: undefined, quality: undefined }, ...(price?.imageRates ?? [])]
  return choices
    .map((choice) => imagePriceNano(price, chosen(size) ?? choice.size, chosen(quality) ?? choice.quality))
    .reduce(
      (most, each) => (most === undefined || (each !== undefined && each > most) ? each : most),
      undefined,
    )
}

/**
 * The price of one image in nano-USD: the rate for its size and quality, otherwise the rate for its size,
 * otherwise the rate for its quality, otherwise the general price. An undefined size or quality means one
 * that no rate names.
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
  /** A power of ten. */
  scale: bigint
}

/**
 * Parses `"1.25"` as 125 / 100. Throws an Error for anything but a plain decimal number, which would be a bug
 * of the caller.
 */
export function parseMultiplier(text: string): Multiplier {
  const known = multipliers.get(text)
  if (known !== undefined) return known
  const match = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(text)
  if (match === null)
    throw new Error(`price multiplier: expected a decimal number, got ${JSON.stringify(text)}`)
  const decimals = match[2] ?? ''
  const parsed = { digits: BigInt(`${match[1]}${decimals}`), scale: 10n ** BigInt(decimals.length) }
  // Groups have few different multipliers. The limit is a safeguard.
  if (multipliers.size >= multipliersMax) multipliers.clear()
  multipliers.set(text, parsed)
  return parsed
}

const multipliers = new Map<string, Multiplier>()
const multipliersMax = 1000
const million = 1_000_000n
const roundingNano = 3n

/** One part of the cost, whose tokens can have several rates. Undefined if some tokens have no rate. */
function part(
  rate: Multiplier,
  ...tokensAt: [tokens: number, perMillion: bigint | undefined][]
): bigint | undefined {
  let amount = 0n
  for (const [tokens, perMillion] of tokensAt) {
    if (tokens === 0) continue
    if (perMillion === undefined) return undefined
    amount += BigInt(tokens) * perMillion
  }
  return amount === 0n ? 0n : roundHalfUp(amount * rate.digits, million * rate.scale)
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

/** The size or quality chosen by the client, if any. */
const chosen = (word: string | undefined) => (word === 'auto' ? undefined : word)

/** The highest price; undefined without the first one, which is the fallback for the others. */
function dearest(first: bigint | undefined, ...others: (bigint | undefined)[]): bigint | undefined {
  if (first === undefined) return undefined
  return others.reduce<bigint>((most, price) => (price !== undefined && price > most ? price : most), first)
}

/** Whether the request has something that is charged in place of its tokens. */
function replacesTokens(rates: Rates, counts: Counts): boolean {
  return replacingParts.some(
    ({ name, count }) => rates[name] !== undefined && count !== undefined && counts[count.name] !== undefined,
  )
}

const replacingParts = priceParts.filter((part) => part.replacesTokens)

/** No tokens, or none that are known. */
export const noTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 } as const

/**
 * The price of what is not counted in tokens, in millionths of a nano-USD. Undefined if something that was
 * used has no rate, unless its tokens are charged instead. Few vendors charge a fee per request, so a missing
 * one means that there is none.
 */
function feesOf(rates: Rates, counts: Counts): bigint | undefined {
  let amount = 0n
  for (const { name, per, count, replacesTokens } of feeParts) {
    const quantity = count === undefined ? 1 : (counts[count.name] ?? 0)
    if (quantity === 0) continue
    const rate = rates[name]
    if (rate !== undefined) amount += BigInt(quantity) * rate * (per === 'one' ? million : 1n)
    else if (count !== undefined && replacesTokens !== true) return undefined
  }
  return amount
}

const feeParts = priceParts.filter(({ per }) => per !== 'million tokens')

/** The highest price of all tiers; undefined if one of them has none. */
function dearestOf(
  tiers: readonly Rates[],
  priceOf: (rates: Rates) => bigint | undefined,
): bigint | undefined {
  let most: bigint | undefined = 0n
  for (const rates of tiers) {
    const price = priceOf(rates)
    if (price === undefined) return undefined
    if (price > most) most = price
  }
  return most
}

function ceilDivide(amount: bigint, divisor: bigint): bigint {
  return (amount + divisor - 1n) / divisor
}
