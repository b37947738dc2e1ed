import type { Sample } from './measure.ts'
import { type Ratio, ratioOf } from './ratio.ts'
import type { Scenario } from './scenarios.ts'

/**
 * What was measured: the yardstick, the other commit (`before`), this tree, and `direct`, the mock upstream without a gateway.
 */
export type Role = 'yardstick' | 'before' | 'tollgate' | 'direct'

/** The windows of one round, in their order. */
export type Round = Record<Role, Sample[]>

export interface Measurement {
  scenario: Scenario
  rounds: Round[]
}

export interface Figure {
  what: string
  of(sample: Sample): number
  /** A latency, from which that of `direct` is taken away. */
  isAdded?: boolean
  /** Steady enough for an interval. */
  hasInterval?: boolean
  goal?: { ratioMax?: number | undefined; max?: number | undefined } | undefined
}

/** The figures of a scenario. The first is the one that is judged. */
export function figuresOf({ per, goals, drive }: Scenario): [Figure, ...Figure[]] {
  const each = ({ load }: Sample) => (per === 'event' ? load.windowEvents : load.windowCalls)
  const cpu: Figure = {
    what: `CPU us/${per}`,
    of: (sample) => sample.cpuUs / each(sample),
    hasInterval: true,
    goal: { ratioMax: goals.cpuRatioMax },
  }
  const postgres: Figure = {
    what: `Postgres CPU us/${per}`,
    of: (sample) => sample.postgresCpuUs / each(sample),
  }
  const added = (what: string, of: Figure['of'], max?: number): Figure => ({
    what: `added ${what} us`,
    of,
    isAdded: true,
    goal: { max },
  })
  const resident: Figure = {
    what: 'RSS peak MB',
    of: (sample) => sample.residentMb,
    goal: { max: goals.residentMbMax },
  }
  switch (drive.kind) {
    case 'closed':
      return [cpu, postgres]
    case 'rate':
      return [
        cpu,
        postgres,
        added('p50', ({ load }) => load.latencyP50Us, goals.addedP50UsMax),
        added('p99', ({ load }) => load.latencyP99Us, goals.addedP99UsMax),
      ]
    case 'hold':
      return [
        cpu,
        added('event p50', ({ load }) => load.eventP50Us),
        added('event p99', ({ load }) => load.eventP99Us),
        resident,
      ]
    case 'turns': {
      const late: Figure = {
        what: 'CPU us/turn, last turns',
        of: (sample) => sample.lateCpuUs / sample.load.lateCalls,
        hasInterval: true,
        goal: { ratioMax: goals.lateRatioMax },
      }
      return [cpu, late, postgres]
    }
  }
}

/** One number of each round: the mean of its windows; undefined where the role had none. */
export function valuesOf(figure: Figure, rounds: readonly Round[], role: Role): (number | undefined)[] {
  return rounds.map((round) => {
    const value = meanOf(round[role].map(figure.of))
    if (!figure.isAdded || value === undefined) return value
    const direct = meanOf(round.direct.map(figure.of))
    return direct === undefined ? undefined : value - direct
  })
}

/** The rounds' ratios of this tree to another subject, of the rounds that have both. */
export function ratiosTo(figure: Figure, rounds: readonly Round[], role: 'yardstick' | 'before'): number[] {
  const others = valuesOf(figure, rounds, role)
  return valuesOf(figure, rounds, 'tollgate').flatMap((value, round) => {
    const other = others[round]
    return value === undefined || other === undefined ? [] : [value / other]
  })
}

/** Undefined when there is none: without rounds, or when an added latency is below the noise. */
export function ratioTo(
  figure: Figure,
  rounds: readonly Round[],
  role: 'yardstick' | 'before',
): Ratio | undefined {
  const ratios = ratiosTo(figure, rounds, role)
  if (ratios.length === 0 || !ratios.every((ratio) => ratio > 0 && ratio < Number.POSITIVE_INFINITY))
    return undefined
  return ratioOf(ratios)
}

function meanOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
