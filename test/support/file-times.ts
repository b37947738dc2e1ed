import { tableOf } from '../../bench/table.ts'

/** What one test file took. */
export interface FileTime {
  file: string
  /** The project of vitest. */
  tier: string
  tests: number
  /** All that the file cost: its worker, set-up, imports, hooks and tests. */
  ms: number
  /** Of it what came before its first hook or test. */
  loadMs: number
  /** On the clock of the run. */
  endMs: number
}

/** The most seconds that a file of a tier may take. */
const budgets: Readonly<Record<string, number>> = { fast: 1, contract: 10 }

const slowestShown = 20
const overShown = 20
/** Somebody who runs fewer files knows which ones they are. */
const reportFrom = 5

/** The slowest files, what each tier took, and the files over their budget. A line for a few files, nothing for none. */
export function timesOf(files: readonly FileTime[]): string {
  const slowest = files.toSorted((a, b) => b.ms - a.ms)
  if (files.length < reportFrom) return lineOf(slowest)
  return [tiersOf(slowest), slowestOf(slowest), ...overBudgetOf(slowest)].join('\n\n')
}

function lineOf(slowest: readonly FileTime[]): string {
  const [first, ...others] = slowest
  if (first === undefined) return ''
  const budget = isOver(first) ? `, over its budget of ${budgets[first.tier]} s` : ''
  if (others.length === 0) return `${first.file} took ${seconds(first.ms)} s${budget}.`
  const all = `${slowest.length} files took ${seconds(sumOf(slowest))} s in sum`
  return `${all}, ${first.file} the most: ${seconds(first.ms)} s${budget}.`
}

function tiersOf(files: readonly FileTime[]): string {
  const tiers = [...Map.groupBy(files, ({ tier }) => tier)].sort(([, a], [, b]) => sumOf(b) - sumOf(a))
  const rows = tiers.map(([tier, its]) => [
    tier,
    `${its.length}`,
    `${its.reduce((sum, { tests }) => sum + tests, 0)}`,
    seconds(sumOf(its)),
    seconds(Math.max(...its.map(({ endMs }) => endMs)) - Math.min(...its.map(({ endMs, ms }) => endMs - ms))),
  ])
  return [
    'Seconds of each tier: the sum of its files, and the wall time from first start to last end',
    tableOf([['tier', 'files', 'tests', 'sum', 'wall'], ...rows], (column) => column > 0),
  ].join('\n')
}

function slowestOf(slowest: readonly FileTime[]): string {
  const shown = slowest.slice(0, slowestShown)
  const rows = shown.map(({ file, tier, tests, ms, loadMs }) => [
    seconds(ms),
    seconds(loadMs),
    tier,
    `${tests}`,
    file,
  ])
  return [
    `The ${shown.length} slowest of ${slowest.length} files: seconds, and how many of them were loading`,
    tableOf([['all', 'load', 'tier', 'tests', 'file'], ...rows], (column) => column !== 2 && column !== 4),
  ].join('\n')
}

/** A list for each tier that has files over its budget. */
function overBudgetOf(slowest: readonly FileTime[]): string[] {
  return Object.entries(budgets).flatMap(([tier, budget]) => {
    const its = slowest.filter((file) => file.tier === tier)
    const over = its.filter(isOver)
    if (over.length === 0) return []
    const rows = over.slice(0, overShown).map(({ file, ms }) => [seconds(ms), file])
    const more = over.length > overShown ? [`and ${over.length - overShown} more`] : []
    return [
      `Over the budget of ${budget} s for a ${tier} file: ${over.length} of ${its.length}\n` +
        [tableOf(rows, (column) => column === 0), ...more].join('\n'),
    ]
  })
}

function isOver({ tier, ms }: FileTime): boolean {
  const budget = budgets[tier]
  return budget !== undefined && ms > budget * 1_000
}

function sumOf(files: readonly FileTime[]): number {
  return files.reduce((sum, { ms }) => sum + ms, 0)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1)
}
