import { z } from 'zod'
import { byWord, type Rates, type RateWord, ratesBy } from '../canonical/price-parts.ts'
import { imageWord, multiplier, mustBe, name, usd, wholeNumber } from '../db/settings/values.ts'
import type { ImageRate, Price, PriceCondition, PriceTier } from './snapshot.ts'

const madeIn = imageWord.refine((word) => word !== 'auto', {
  error: mustBe('a specific value; "auto" is charged at the price of the resulting image'),
})

const imageRate = z
  .strictObject({ size: madeIn.optional(), quality: madeIn.optional(), usd })
  .refine(({ size, quality }) => size !== undefined || quality !== undefined, {
    error: mustBe('a map with a size, a quality or both; set "image" for the price of all other images'),
  })
  .transform(({ size, quality, usd }): ImageRate => ({ size, quality, nano: usd }))

const imageRates = z
  .array(imageRate)
  .max(100, mustBe('a list of at most 100 prices'))
  .superRefine((rates, context) => {
    const seen = new Map<string, number>()
    for (const [index, { size, quality }] of rates.entries()) {
      const pair = JSON.stringify([size, quality])
      const first = seen.get(pair)
      if (first === undefined) seen.set(pair, index)
      else {
        const message = `has the same size and quality as images[${first}]`
        context.addIssue({ code: 'custom', path: [index], message })
      }
    }
  })

/** In USD, as decimals. */
const rateSettings = byWord(() => usd.optional())

type RateSettings = { [Word in RateWord]?: bigint | undefined }

const contextTiers = z
  .array(z.strictObject({ above_input_tokens: wholeNumber(1, 2_147_483_647), ...rateSettings }))
  .max(10, mustBe('a list of at most 10 tiers'))
  .superRefine((tiers, context) => {
    for (const [index, { above_input_tokens }] of tiers.entries()) {
      const before = tiers[index - 1]
      if (before === undefined || before.above_input_tokens < above_input_tokens) continue
      const path = [index, 'above_input_tokens']
      context.addIssue({ code: 'custom', path, message: mustBe('higher than in the previous tier') })
    }
  })

/** A decimal multiplies all token prices; a map replaces those that it contains. */
const serviceTier = z.union(
  [multiplier, z.strictObject({ ...rateSettings, tiers: contextTiers.optional() })],
  { error: mustBe('a decimal multiplier for the token prices, or a map of prices') },
)

const serviceTiers = z
  .record(name(64), serviceTier)
  .refine((tiers) => Object.keys(tiers).length <= 10, { error: mustBe('a map with at most 10 tiers') })

type ServiceTier = z.output<typeof serviceTier>

/** `price` of a model in gateway.yaml. */
export const priceEntry = z
  .strictObject({
    ...rateSettings,
    image: usd.optional(),
    images: imageRates.default([]),
    tiers: contextTiers.optional(),
    service_tiers: serviceTiers.optional(),
  })
  .refine(({ images, ...parts }) => images.length > 0 || Object.values(parts).some(isStated), {
    error: mustBe('a price with at least one part; for a free model, set input and output to 0'),
  })
  .transform(({ image, images, tiers, service_tiers, ...settings }): Omit<Price, 'id'> => {
    const base = ratesFrom(settings)
    const all = [
      ...contextTiersOf(base, tiers ?? []),
      ...Object.entries(service_tiers ?? {}).flatMap(([tier, settings]) =>
        serviceTierOf({ serviceTier: tier.toLowerCase() }, settings, base, tiers ?? []),
      ),
    ]
    return { ...base, image, imageRates: images, ...(all.length > 0 && { tiers: all }) }
  })

/** An empty price would look like one that is known. */
const isStated = (part: unknown) => part !== undefined

type ContextTiers = z.output<typeof contextTiers>

/** Parts that a tier leaves out have the same price as in `base`. */
function contextTiersOf(base: Rates, tiers: ContextTiers, when: PriceCondition = {}): PriceTier[] {
  return tiers.map(({ above_input_tokens, ...settings }) => ({
    when: { ...when, aboveInputTokens: above_input_tokens },
    rates: ratesFrom(settings, base),
  }))
}

/**
 * A tier with a multiplier has the steps of the model's price; a tier with its own prices has only its own
 * steps.
 */
function serviceTierOf(
  when: PriceCondition,
  settings: ServiceTier,
  base: Rates,
  tiers: ContextTiers,
): PriceTier[] {
  if (typeof settings === 'string') {
    return [{ when: {}, rates: base }, ...contextTiersOf(base, tiers)].map((tier) => ({
      when: { ...tier.when, ...when },
      rates: multiplied(tier.rates, settings),
    }))
  }
  const { tiers: own = [], ...prices } = settings
  const rates = ratesFrom(prices, base)
  return [{ when, rates }, ...contextTiersOf(rates, own, when)]
}

function ratesFrom(settings: RateSettings, base?: Rates): Rates {
  return ratesBy(({ name, word }) => settings[word] ?? base?.[name])
}

/**
 * Rounds half up to one nano-USD per million tokens. What is not counted in tokens has the same price in
 * every service tier.
 */
function multiplied(rates: Rates, factor: string): Rates {
  const [whole = '', decimals = ''] = factor.split('.')
  const digits = BigInt(whole + decimals)
  const scale = 10n ** BigInt(decimals.length)
  return ratesBy(({ name, per }) => {
    const nano = rates[name]
    if (nano === undefined || per !== 'million tokens') return nano
    return (2n * nano * digits + scale) / (2n * scale)
  })
}
