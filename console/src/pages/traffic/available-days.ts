import type { Tone } from '../../parts/tone.ts'
import type { Series } from './traffic-query.ts'

/** One day (UTC) of a channel or a model. */
export interface AvailableDay {
  /** `2026-11-24`. */
  day: string
  /** Requests that their clients did not cancel. */
  requests: number
  /** Of them, those that did not fail. */
  good: number
}

const dayMs = 86_400_000

/** The last `days` days up to `now`, the oldest first. Days without a request are there too. */
export function availableDays(series: readonly Series[], now: Date, days: number): AvailableDay[] {
  const found = new Map<string, { requests: number; good: number }>()
  for (const { outcome, points } of series) {
    if (outcome === 'cancelled') continue
    for (const { at, requests } of points) {
      const day = at.slice(0, 10)
      const sums = found.get(day) ?? { requests: 0, good: 0 }
      const isGood = outcome === 'succeeded' || outcome === 'refused'
      found.set(day, {
        requests: sums.requests + requests,
        good: sums.good + (isGood ? requests : 0),
      })
    }
  }
  const today = Math.floor(now.getTime() / dayMs) * dayMs
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(today - (days - 1 - index) * dayMs).toISOString().slice(0, 10)
    return { day, ...(found.get(day) ?? { requests: 0, good: 0 }) }
  })
}

/** Undefined: nothing came that could have failed. */
export function toneOfDay({ requests, good }: AvailableDay): Tone | undefined {
  if (requests === 0) return undefined
  if (good / requests >= 0.99) return 'good'
  return good / requests >= 0.95 ? 'warning' : 'bad'
}
