import { inject } from 'vitest'

/**
 * How often a test repeats its action, or how long it runs: a little in `npm test`, as much as a release must endure in
 * `npm run chaos`. The environment variable `name` sets another amount.
 */
export function amount(name: string, of: { test: number; chaos: number }): number {
  const wanted = process.env[name]
  if (wanted !== undefined) return Number(wanted)
  return inject('isChaos') ? of.chaos : of.test
}
