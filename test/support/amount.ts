import { inject } from 'vitest'

/**
 * How many times, or how long, a test does what it is about: a little in `npm test`, as much as a release must stand in
 * `npm run chaos`. The environment variable `name` sets another amount.
 */
export function amount(name: string, of: { test: number; chaos: number }): number {
  const wanted = process.env[name]
  if (wanted !== undefined) return Number(wanted)
  return inject('isChaos') ? of.chaos : of.test
}
