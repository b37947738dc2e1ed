import { z } from 'zod'
import type { ImageTraits } from '../canonical/image.ts'
import { byWord, type Rates, rateOf } from '../canonical/price-parts.ts'
import type { Group, Model, Offer, Price } from '../catalog/snapshot.ts'
import { parseMultiplier } from '../money/price.ts'
import { endpointsOf } from '../pipeline/refusals-that-help.ts'
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

/** Null: every value that the format allows. */
const imageTraits = z.object({
  sizes: words,
  qualities: words,
  styles: words,
  backgrounds: words,
  output_formats: words,
  images_max: count.describe('The maximum number of images per request.'),
  partial_images_max: count,
  prompt_characters_max: count,
})

const usd = z.string().nullable()

const rates = byWord(({ about }) => (about === undefined ? usd : usd.describe(about)))

/** Null: the condition is not set. */
const tier = z.object({
  above_input_tokens: count.describe(
    'The tier applies above this number of input tokens, including cached ones.',
  ),
  service_tier: z.string().nullable(),
  since: z.iso.datetime().nullable(),
  daily_from: count.describe('The start of the daily period, in seconds since midnight UTC.'),
  daily_to: count.describe('The end of the daily period, in seconds since midnight UTC.'),
  ...rates,
})

const pricing = z
  .object({
    ...rates,
    image: usd.describe('The price per image.'),
    images: z
      .array(z.object({ size: z.string().nullable(), quality: z.string().nullable(), usd }))
      .describe('The prices per image by size and quality. Null means any size or quality.'),
    tiers: z
      .array(tier)
      .describe(
        'Prices that replace the above for requests that meet the conditions. If several tiers match, the last one applies.',
      ),
    source: z
      .string()
      .describe(
        'The source of the price: `catalog` if the operator maintains it, or a library with its version.',
      ),
  })
  .describe('The prices for this group in USD per million tokens, as exact decimals. Null if not known.')

/** OpenAI's model object with additional members. https://platform.openai.com/docs/api-reference/models */
export const model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int().describe('Seconds since the epoch.'),
    owned_by: z.string(),
    aliases: z.array(z.string()),
    endpoints: z.array(z.string()).describe('The paths at which the model is known to be served.'),
    capabilities: z.object({
      streaming: z.boolean(),
      images: imageTraits
        .nullable()
        .describe('The values that image requests for this model can use. A null member means any value.'),
      ...traitMembers,
    }),
    capabilities_proved_at: z
      .record(z.string(), z.iso.datetime())
      .describe(
        'When each member of `capabilities` was last proved by a probe or by refusals of the upstream. Members that are absent here come from built-in tables or from the operator.',
      ),
    context_length: count,
    max_output_tokens: count,
    pricing: pricing.nullable(),
  })
  .meta({ id: 'Model' })

export const modelList = z
  .object({ object: z.literal('list'), data: z.array(model) })
  .meta({ id: 'ModelList' })

/** `id` is the requested name, because a model can match any name that its channels pass through. */
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

/**
 * Returns the library price of the offer that is tried first. An answer is charged at the price of the offer
 * that gave it.
 */
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

/** Returns the price that the group pays. */
function pricingOf(price: Price, multiplier: string): z.output<typeof pricing> {
  const usd = (nano: bigint | undefined) => (nano === undefined ? null : usdText(nano, multiplier))
  const ratesOf = (rates: Rates) => byWord(({ name }) => usd(rateOf(rates, name)))
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

/** Formats an amount with at least two decimals, as is usual for prices, and more only if needed. */
function usdText(nano: bigint, multiplier: string): string {
  const { digits, scale } = parseMultiplier(multiplier)
  const nanoPerUsd = 1_000_000_000n * scale
  const exact = nano * digits
  const decimals = String(exact % nanoPerUsd)
    .padStart(String(nanoPerUsd).length - 1, '0')
    .replace(/0+$/, '')
  return `${exact / nanoPerUsd}.${decimals.padEnd(2, '0')}`
}
