import { amount } from './amount.ts'

/**
 * The steps, counted from 1 over all tables, after which a test kills a process that works on one table after the other: each kind of
 * step in one of the tables, or in every one under `npm run chaos`.
 */
export function killSteps(tables: number, kinds: number): number[] {
  const each = amount('KILL_TABLES', { test: 1, chaos: tables })
  const steps = Array.from({ length: tables * kinds }, (_, index) => index)
  const isTaken = (index: number) => (Math.floor(index / kinds) + (index % kinds)) % tables < each
  return steps.filter(isTaken).map((index) => index + 1)
}
