import { z } from 'zod'
import type { ImageTraits } from '../canonical/image.ts'
import type { Group, Model, Offer, Price, Rates } from '../catalog/snapshot.ts'
import { parseMultiplier } from '../ledger/price.ts'
import { endpointsOf } from '../stages/served-on.ts'
import {
  capabilitiesOf,
  provedAt,
  sizesOf,
  traitMembers,
  traitsFor,
  verdictsFor,
} from './model-capabilities.ts'

const words = z.array(z.string()).nullable()
const count = z.int().nullable()

/** Null: every value of the format. */
const imageTraits = z.object({
  sizes: words,
  qualities: words,
  styles: words,
  backgrounds: words,
  output_formats: words,
  images_max: count.describe('Images of one request.'),
  partial_images_max: count,
  prompt_characters_max: count,
})

const usd = z.string().nullable()

const rates = {
  input: usd,
  output: usd,
  cache_read: usd,
  cache_write: usd,
  cache_write_1h: usd.describe('Of tokens that a vendor keeps for an hour.'),
  reasoning: usd,
  audio_input: usd,
  audio_output: usd,
  web_search: usd.describe('Per search.'),
  request: usd.describe('Per request; null: no fee.'),
}

/** Null: the condition is not stated. */
const tier = z.object({
  above_input_tokens: count.describe('More input tokens than this, cached ones included.'),
  service_tier: z.string().nullable(),
  since: z.iso.datetime().nullable(),
  daily_from: count.describe('Seconds since midnight UTC.'),
  daily_to: count.describe('Seconds since midnight UTC.'),
  ...rates,
})

const pricing = z
  .object({
    ...rates,
    image: usd.describe('Per image.'),
    images: z
      .array(z.object({ size: z.string().nullable(), quality: z.string().nullable(), usd }))
      .describe('Per image of one size or quality; null: of any.'),
    tiers: z
      .array(tier)
      .describe('Other prices of whole requests that meet the conditions; of several, the last one counts.'),
    source: z
      .string()
      .describe('Where it comes from: `catalog`, which the operator keeps, or a library and its version.'),
  })
  .describe('USD per million tokens, as the group pays it: exact decimals; null where not known.')

/** OpenAI's model with more members. https://platform.openai.com/docs/api-reference/models */
export const model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Seconds since the epoch.'),
    owned_by: z.string(),
    aliases: z.array(z.string()),
    endpoints: z.array(z.string()).describe('Where it is known to be served.'),
    capabilities: z.object({
      streaming: z.boolean(),
      images: imageTraits.nullable().describe('What it takes of image requests; null in each: any.'),
      ...traitMembers,
    }),
    capabilities_proved_at: z
      .record(z.string(), z.iso.datetime())
      .describe(
        'When a probe, or refusals of the upstream, last proved what `capabilities` says, by its member. A member that is absent here comes from built-in tables or from the operator.',
      ),
    context_length: count,
    max_output_tokens: count,
    pricing: pricing.nullable(),
  })
  .meta({ id: 'Model' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(model) })
  .meta({ id: 'ModelList' })

/** `id`: as asked for, because a model may match any name that its channels pass through. */
export function modelJson(of: Model, id: string, group: Group): z.output<typeof model> {
  const offers = of.offers.filter(
    ({ channel }) => group.channels.includes('*') || group.channels.includes(channel.name),
  )
  const channels = offers.map((offer) => offer.channel)
  const price = of.price ?? libraryPriceOf(offers, id)
  const endpoints = endpointsOf(of, id, channels)
  const traits = traitsFor(of, id, group)
  const capabilities = capabilitiesOf(traits)
  const { contextLength, maxOutputTokens } = sizesOf(of, traits)
  const makesImages = endpoints.some(({ kind }) => kind === 'image')
  return {
    id,
    object: 'model',
    created: Math.floor(of.createdAt.getTime() / 1000),
    owned_by: 'tollgate',
    aliases: [...of.aliases],
    endpoints: endpoints.map(({ path }) => path),
    capabilities: {
      streaming: endpoints.some(({ kind }) => kind === 'text'),
      images: makesImages && of.images !== undefined ? traitsOf(of.images) : null,
      ...capabilities,
    },
    capabilities_proved_at: provedAt(capabilities, verdictsFor(of, id, group)),
    context_length: contextLength,
    max_output_tokens: maxOutputTokens,
    pricing: price === undefined ? null : pricingOf(price, group.priceMultiplier),
  }
}

/** Of the offer that is tried first. An answer is paid by the price of the offer that gave it. */
function libraryPriceOf(offers: readonly Offer[], id: string): Price | undefined {
  const [first] = offers
  return first?.libraryPrices?.of(first.upstreamModel === '*' ? id : first.upstreamModel)
}

function traitsOf(traits: ImageTraits): z.output<typeof imageTraits> {
  const words = (list: readonly string[] | undefined) => (list === undefined ? null : [...list])
  return {
    sizes: words(traits.sizes),
    qualities: words(traits.qualities),
    styles: words(traits.styles),
    backgrounds: words(traits.backgrounds),
    output_formats: words(traits.outputFormats),
    images_max: traits.imagesMax ?? null,
    partial_images_max: traits.partialImagesMax ?? null,
    prompt_characters_max: traits.promptCharactersMax ?? null,
  }
}

/** As the group pays it. */
function pricingOf(price: Price, multiplier: string): z.output<typeof pricing> {
  const usd = (nano: bigint | undefined) => (nano === undefined ? null : usdText(nano, multiplier))
  const ratesOf = (rates: Rates) => ({
    input: usd(rates.input),
    output: usd(rates.output),
    cache_read: usd(rates.cacheRead ?? rates.input),
    cache_write: usd(rates.cacheWrite ?? rates.input),
    cache_write_1h: usd(rates.cacheWrite1h ?? rates.cacheWrite ?? rates.input),
    reasoning: usd(rates.reasoning ?? rates.output),
    audio_input: usd(rates.audioInput ?? rates.input),
    audio_output: usd(rates.audioOutput ?? rates.output),
    web_search: usd(rates.webSearch),
    request: usd(rates.request),
  })
  return {
    ...ratesOf(price),
    image: usd(price.image),
    images: price.imageRates.map(({ size, quality, nano }) => ({
      size: size ?? null,
      quality: quality ?? null,
      usd: usd(nano),
    })),
    tiers: (price.tiers ?? []).map(({ when, rates }) => ({
      above_input_tokens: when.aboveInputTokens ?? null,
      service_tier: when.serviceTier ?? null,
      since: when.since === undefined ? null : new Date(when.since).toISOString(),
      daily_from: when.daily?.from ?? null,
      daily_to: when.daily?.to ?? null,
      ...ratesOf(rates),
    })),
    source: price.source ?? 'catalog',
  }
}

/** With at least two decimals, as people write prices, and more only where they are needed. */
function usdText(nano: bigint, multiplier: string): string {
  const { digits, scale } = parseMultiplier(multiplier)
  const nanoPerUsd = 1_000_000_000n * scale
  const exact = nano * digits
  const decimals = String(exact % nanoPerUsd)
    .padStart(String(nanoPerUsd).length - 1, '0')
    .replace(/0+$/, '')
  return `${exact / nanoPerUsd}.${decimals.padEnd(2, '0')}`
}
