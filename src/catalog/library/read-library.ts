import { z } from 'zod'
import type { PriceCondition } from '../snapshot.ts'
import type { ConditionalRates } from './library-price.ts'
import { matcherOf, patternOf } from './match.ts'

/** A vendor in the library. */
export interface LibraryProvider {
  id: string
  /** Matches the beginning of its API's base URLs. */
  apiPattern: RegExp
  /** Other providers whose models it also sells. */
  fallbacks: readonly string[]
  models: readonly LibraryModel[]
}

export interface LibraryModel {
  id: string
  /** The names that refer to the model, in the form that `matcherOf` accepts. */
  match: Record<string, unknown>
  /** The first one has no condition. */
  prices: readonly ConditionalRates[]
}

const amount = z.number().min(0).max(1_000_000)
const start = z.int().min(0).max(2_147_483_647)

const tiered = z
  .object({ base: amount, tiers: z.array(z.object({ start, price: amount })).max(20) })
  .transform(({ base, tiers }) => ({ base, tiers: tiers.toSorted((a, b) => a.start - b.start) }))

const rates = z.record(z.string().max(64), z.union([amount, tiered]))

const startDate = z
  .object({ start_date: z.iso.date() })
  .transform(({ start_date }): PriceCondition => ({ since: Date.parse(`${start_date}T00:00:00Z`) }))

/** In the library's format: a time with its zone. */
const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/)
  .transform((text) => {
    const [hours = 0, minutes = 0, seconds = 0] = text.slice(0, 8).split(':').map(Number)
    return hours * 3600 + minutes * 60 + seconds
  })

const daily = z
  .object({ start_time: timeOfDay, end_time: timeOfDay })
  .transform(({ start_time, end_time }): PriceCondition => ({ daily: { from: start_time, to: end_time } }))

const conditional = z
  .object({ constraint: z.union([startDate, daily]).nullish(), prices: rates })
  .transform(({ constraint, prices }): ConditionalRates => ({ when: constraint ?? {}, rates: prices }))

const model = z
  .object({
    id: z.string().min(1).max(256),
    match: z.record(z.string(), z.unknown()).refine(isMatch, 'is not a supported match'),
    prices: z.union([z.array(conditional).min(1).max(50), rates]),
  })
  .transform(
    ({ id, match, prices }): LibraryModel => ({
      id,
      match,
      prices: Array.isArray(prices) ? prices : [{ when: {}, rates: prices }],
    }),
  )

const provider = z
  .object({
    id: z.string().regex(/^[a-z0-9_.-]{1,64}$/),
    api_pattern: z.string().refine(isPattern, 'is not a supported pattern'),
    fallback_model_providers: z.array(z.string().max(64)).max(50).nullish(),
    models: z.array(model).max(5000),
  })
  .transform(
    ({ id, api_pattern, fallback_model_providers, models }): LibraryProvider => ({
      id,
      apiPattern: patternOf(api_pattern, '^'),
      fallbacks: fallback_model_providers ?? [],
      models,
    }),
  )

const library = z.array(provider).min(1).max(500)

/**
 * Checks library data, whether from the package or fetched. Throws an Error that states what is wrong with
 * it.
 */
export function readLibrary(data: unknown): LibraryProvider[] {
  const read = library.safeParse(data)
  if (read.success) return read.data
  const [first] = read.error.issues
  throw new Error(`invalid price data: ${first?.path.join('.')}: ${first?.message}`)
}

function isMatch(match: unknown): boolean {
  return isReadable(() => matcherOf(match))
}

function isPattern(source: string): boolean {
  return isReadable(() => patternOf(source, '^'))
}

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
