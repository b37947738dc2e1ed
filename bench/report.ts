import type { Measurement, Sample } from './measure.ts'
import { median } from './percentile.ts'
import type { Scenario } from './scenarios.ts'
import { tableOf } from './table.ts'

/** One line of the table. Numbers are medians over the rounds. */
export interface Line {
  scenario: string
  what: string
  yardstick: number | undefined
  /** The subject of `yardstick`. */
  against: Scenario['yardstick']
  tollgate: number
  /** Median of the ratios of each round: measurements close in time share the state of the machine. */
  ratio: number | undefined
  goal: string
  missed: boolean
}

export function linesOf(scenario: Scenario, measured: Measurement): Line[] {
  const { goals } = scenario
  const line = (
    what: string,
    tollgate: number[],
    yardstick: number[] | undefined,
    bound: { ratioMax?: number | undefined; max?: number | undefined } = {},
  ): Line => {
    const ratio = yardstick && ratioOf(tollgate, yardstick)
    const value = median(tollgate)
    const missedRatio = bound.ratioMax !== undefined && !(ratio !== undefined && ratio <= bound.ratioMax)
    const missedMax = bound.max !== undefined && value > bound.max
    const goal =
      bound.ratioMax !== undefined ? `ratio <= ${bound.ratioMax}` : bound.max ? `<= ${bound.max}` : ''
    return {
      scenario: scenario.name,
      what,
      yardstick: yardstick && median(yardstick),
      against: scenario.yardstick,
      tollgate: value,
      ratio,
      goal,
      missed: missedRatio || missedMax,
    }
  }

  const { yardstick, tollgate, direct } = measured
  const isLatency = scenario.drive.kind === 'rate'
  const hasCpu = !isLatency || scenario.yardstick === 'journal'
  const isHold = scenario.drive.kind === 'hold'
  const per = scenario.per
  const share = (samples: Sample[], of: (sample: Sample) => number) =>
    samples.map(
      (sample) => of(sample) / (per === 'event' ? sample.load.windowEvents : sample.load.windowCalls),
    )
  const cpu = (samples: Sample[]) => share(samples, (sample) => sample.cpuUs)
  const added = (samples: Sample[], of: (sample: Sample) => number) =>
    samples.map((sample, round) => of(sample) - (direct[round] ? of(direct[round]) : 0))

  const lines: Line[] = []
  if (hasCpu) {
    lines.push(line(`CPU us/${per}`, cpu(tollgate), cpu(yardstick), { ratioMax: goals.cpuRatioMax }))
  }
  if (hasCpu && per === 'request') {
    const isLogged = scenario.yardstick !== 'R'
    const postgres = (samples: Sample[]) => share(samples, (sample) => sample.postgresCpuUs)
    const both = (samples: Sample[]) => share(samples, (sample) => sample.cpuUs + sample.postgresCpuUs)
    lines.push(
      line('Postgres CPU us/request', postgres(tollgate), isLogged ? postgres(yardstick) : undefined),
    )
    const max = goals.cpuWithPostgresUsMax
    lines.push(line('both us/request', both(tollgate), (isLogged ? both : cpu)(yardstick), { max }))
  }
  if (isLatency) {
    for (const [what, of] of [
      ['added p50 us', (sample: Sample) => sample.load.latencyP50Us],
      ['added p99 us', (sample: Sample) => sample.load.latencyP99Us],
    ] as const) {
      lines.push(line(what, added(tollgate, of), added(yardstick, of)))
    }
  }
  if (isHold) {
    for (const [what, of] of [
      ['added event p50 us', (sample: Sample) => sample.load.eventP50Us],
      ['added event p99 us', (sample: Sample) => sample.load.eventP99Us],
    ] as const) {
      lines.push(line(what, added(tollgate, of), added(yardstick, of)))
    }
    const resident = { max: goals.residentMbMax }
    lines.push(line('RSS peak MB', [measured.tollgateResidentMb], [measured.yardstickResidentMb], resident))
  }
  return lines
}

/** Undefined when a value is not positive: an added latency below the noise has no ratio. */
function ratioOf(tollgate: number[], yardstick: number[]): number | undefined {
  if ([...tollgate, ...yardstick].some((value) => !(value > 0))) return undefined
  return median(tollgate.map((value, round) => value / (yardstick[round] ?? Number.NaN)))
}

/** The faults that make the figures void: failed calls, lost events, calls that did not reach the upstream. */
export function faultsOf(scenario: Scenario, measured: Measurement): string[] {
  const faults: string[] = []
  for (const name of ['direct', 'yardstick', 'tollgate'] as const) {
    measured[name].forEach(({ load, missing }, round) => {
      const at = `${scenario.name}, ${name}, round ${round + 1}`
      for (const [error, count] of Object.entries(load.errors)) faults.push(`${at}: ${count} x ${error}`)
      if (load.eventsLost !== 0) faults.push(`${at}: ${load.eventsLost} events lost`)
      if (missing !== 0) faults.push(`${at}: ${missing} of ${load.sent} calls did not reach the upstream`)
    })
  }
  return faults
}

export function tableOfLines(lines: readonly Line[]): string {
  const head = ['scenario', 'figure', 'against', 'Tollgate', 'ratio', 'goal', '']
  const rows = lines.map((line) => [
    line.scenario,
    line.what,
    line.yardstick === undefined ? '' : `${line.against} ${figure(line.yardstick)}`,
    figure(line.tollgate),
    line.ratio === undefined ? '' : line.ratio.toFixed(2),
    line.goal,
    line.goal === '' ? '' : line.missed ? 'MISSED' : 'ok',
  ])
  return tableOf([head, ...rows], (column) => column >= 2 && column <= 4)
}

function figure(value: number): string {
  if (Number.isNaN(value)) return 'unknown'
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
