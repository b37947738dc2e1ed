import { type Figure, figuresOf, type Measurement, ratiosTo, ratioTo, valuesOf } from './figures.ts'
import { median } from './percentile.ts'
import { lastVerdict, type Ratio, roundsMin, type Verdict } from './ratio.ts'
import type { Scenario } from './scenarios.ts'
import { tableOf } from './table.ts'

/** One line of the table. Numbers are medians of the rounds. */
export interface Line {
  scenario: string
  what: string
  yardstick: number | undefined
  before: number | undefined
  tollgate: number
  /** This tree to the other commit, and to the yardstick. */
  toBefore: Ratio | undefined
  toYardstick: Ratio | undefined
  hasInterval: boolean
  goal: string
  isMissed: boolean
  /** Of the scenario's first figure, against another commit. */
  verdict: Verdict | undefined
  /** Why the figures mean nothing. */
  void: string | undefined
}

export function linesOf(measurement: Measurement): Line[] {
  const { scenario, rounds } = measurement
  const figures = figuresOf(scenario)
  const [fault] = faultsOf(measurement)
  const isAgainst = rounds.some(({ before }) => before.length > 0)
  return figures.map((figure, index) => {
    const middle = (role: 'yardstick' | 'before' | 'tollgate') => {
      const values = valuesOf(figure, rounds, role).filter((value) => value !== undefined)
      return values.length === 0 ? undefined : median(values)
    }
    const tollgate = middle('tollgate') ?? Number.NaN
    const toYardstick = ratioTo(figure, rounds, 'yardstick')
    const isJudged = index === 0 && isAgainst
    return {
      scenario: scenario.name,
      what: figure.what,
      yardstick: middle('yardstick'),
      before: middle('before'),
      tollgate,
      toBefore: ratioTo(figure, rounds, 'before'),
      toYardstick,
      hasInterval: figure.hasInterval === true,
      ...goalOf(
        isAgainst ? goalBeside(scenario, figure) : figure.goal,
        tollgate,
        toYardstick,
        scenario.yardstick,
      ),
      verdict: isJudged ? lastVerdict(ratiosTo(figure, rounds, 'before')) : undefined,
      void: index === 0 ? fault : undefined,
    }
  })
}

/** Beside another commit the yardstick is always R, and latencies and memory are of subjects that are driven at once. */
function goalBeside({ yardstick }: Scenario, { goal }: Figure): Figure['goal'] {
  return yardstick === 'R' && goal?.ratioMax !== undefined ? goal : undefined
}

function goalOf(
  goal: Figure['goal'],
  tollgate: number,
  toYardstick: Ratio | undefined,
  yardstick: Scenario['yardstick'],
): Pick<Line, 'goal' | 'isMissed'> {
  if (goal?.ratioMax !== undefined) {
    const isMet = toYardstick !== undefined && toYardstick.value <= goal.ratioMax
    return { goal: `<= ${goal.ratioMax} ${yardstick === 'R' ? 'R' : 'times'}`, isMissed: !isMet }
  }
  if (goal?.max !== undefined) return { goal: `<= ${goal.max}`, isMissed: !(tollgate <= goal.max) }
  return { goal: '', isMissed: false }
}

/** What makes the figures void: failed calls, lost events, calls that did not reach the upstream. */
export function faultsOf({ scenario, rounds }: Measurement): string[] {
  const faults: string[] = []
  for (const role of ['direct', 'yardstick', 'before', 'tollgate'] as const) {
    rounds.forEach((round, index) => {
      for (const { load, missing } of round[role]) {
        const at = `${scenario.name}, ${role}, round ${index + 1}`
        for (const [error, count] of Object.entries(load.errors)) faults.push(`${at}: ${count} x ${error}`)
        if (load.eventsLost !== 0) faults.push(`${at}: ${load.eventsLost} events lost`)
        if (missing !== 0) faults.push(`${at}: ${missing} of ${load.sent} calls did not reach the upstream`)
      }
    })
  }
  return faults
}

/** `before`: the name of the other commit, if there is one. */
export function tableOfLines(lines: readonly Line[], before: string | undefined): string {
  const against = before === undefined ? [] : [before]
  const yardstick = before === undefined ? 'yardstick' : 'R'
  const head = ['scenario', 'figure', yardstick, ...against, 'this tree']
  head.push(...against.map((name) => `to ${name}, 95 %`), `to ${yardstick}`, 'goal', '')
  if (before !== undefined) head.push('verdict')
  const rows = lines.map((line, index) => {
    const isFirst = lines[index - 1]?.scenario !== line.scenario
    const cells = [isFirst ? line.scenario : '', line.what, numberText(line.yardstick)]
    if (before !== undefined) cells.push(numberText(line.before))
    cells.push(numberText(line.tollgate))
    if (before !== undefined) cells.push(toBeforeText(line))
    cells.push(line.toYardstick === undefined ? '' : line.toYardstick.value.toFixed(2))
    cells.push(line.goal, line.goal === '' ? '' : line.isMissed ? 'missed' : 'ok')
    if (before !== undefined) cells.push(verdictText(line))
    return cells
  })
  const figures = before === undefined ? [2, 3, 4] : [2, 3, 4, 5, 6]
  return tableOf([head, ...rows], (column) => figures.includes(column))
}

export function verdictText({ verdict, toBefore, void: reason }: Line): string {
  if (verdict === undefined) return ''
  if (reason !== undefined) return `void: ${reason}`
  const rounds = toBefore?.rounds ?? 0
  if (verdict !== 'undecided') return `${verdict}, ${rounds} rounds`
  if (toBefore === undefined || rounds < roundsMin)
    return `undecided, ${rounds} rounds of ${roundsMin} at least`
  const half = 100 * Math.sqrt(toBefore.high / toBefore.low) - 100
  return `undecided, +-${half.toFixed(1)} %, ${rounds} rounds`
}

function toBeforeText({ toBefore, hasInterval }: Line): string {
  if (toBefore === undefined) return ''
  const { value, low, high, rounds } = toBefore
  return hasInterval && rounds > 2
    ? `${ratioText(value)} (${ratioText(low)}-${ratioText(high)})`
    : ratioText(value)
}

function ratioText(ratio: number): string {
  return ratio.toFixed(3)
}

function numberText(value: number | undefined): string {
  if (value === undefined) return ''
  if (Number.isNaN(value)) return 'unknown'
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
