import { expect, test } from 'vitest'
import type { Measurement, Round } from '../../bench/figures.ts'
import type { Sample } from '../../bench/measure.ts'
import { faultsOf, linesOf, tableOfLines } from '../../bench/report.ts'
import { type Scenario, scenarios } from '../../bench/scenarios.ts'

test('a change that costs a tenth in every round is worse', () => {
  const [line] = linesOf(measured('small-c16', { before: 70, tollgate: 77, rounds: 6 }))
  expect(line).toMatchObject({ before: 70, tollgate: 77, verdict: 'worse' })
  expect(line?.toBefore?.value).toBeCloseTo(1.1)
})

test('only the first figure of a scenario is judged', () => {
  const lines = linesOf(measured('turns', { before: 70, tollgate: 77, rounds: 6 }))
  expect(lines.map(({ what, verdict }) => [what, verdict])).toEqual([
    ['CPU us/turn', 'worse'],
    ['CPU us/turn, last turns', undefined],
    ['Postgres CPU us/turn', undefined],
  ])
})

test('a goal is missed by the ratio to R, and fails no run without another commit', () => {
  const [line] = linesOf(measured('small-c16', { yardstick: 35, tollgate: 77, rounds: 5 }))
  expect(line).toMatchObject({ goal: '<= 1.6 R', isMissed: true, verdict: undefined })
  const [met] = linesOf(measured('small-c16', { yardstick: 50, tollgate: 77, rounds: 5 }))
  expect(met).toMatchObject({ goal: '<= 1.6 R', isMissed: false })
})

test('beside another commit there is only R, so a goal that is to a plain Tollgate is not printed', () => {
  const [line] = linesOf(measured('metrics-c16', { yardstick: 35, before: 70, tollgate: 77, rounds: 5 }))
  expect(line).toMatchObject({ goal: '', isMissed: false })
})

test('beside another commit subjects are driven at once, so goals of latency and memory are not printed', () => {
  const lines = linesOf(measured('hold-1000', { yardstick: 35, before: 70, tollgate: 77, rounds: 5 }))
  expect(lines.map(({ goal }) => goal)).toEqual(['<= 0.95 R', '', '', ''])
})

test('an added latency is what the upstream alone does not have', () => {
  const measurement = measured('rate-200', { yardstick: 1, tollgate: 1, rounds: 1 })
  const [round] = measurement.rounds
  round?.tollgate.forEach(({ load }) => {
    load.latencyP50Us = 500
  })
  round?.direct.push(sampleOf(1, { latencyP50Us: 200 }))
  expect(linesOf(measurement)).toContainEqual(
    expect.objectContaining({ what: 'added p50 us', tollgate: 300, goal: '<= 250', isMissed: true }),
  )
})

test('failed calls, lost events and calls that the upstream never saw make figures void, and the table says why', () => {
  const measurement = measured('burst', { before: 70, tollgate: 70, rounds: 5 })
  const [first, second] = measurement.rounds
  first?.tollgate.push(sampleOf(70, { errors: { 'status 500': 3 } }))
  second?.before.push(sampleOf(70, { eventsLost: 2 }), { ...sampleOf(70), missing: 1 })
  expect(faultsOf(measurement)).toEqual([
    'burst, before, round 2: 2 events lost',
    'burst, before, round 2: 1 of 100 calls did not reach the upstream',
    'burst, tollgate, round 1: 3 x status 500',
  ])
  expect(tableOfLines(linesOf(measurement), 'abcd1234')).toContain(
    'void: burst, before, round 2: 2 events lost',
  )
})

test('a scenario without a verdict says how wide its interval is', () => {
  const measurement = measured('small-c16', { before: 70, tollgate: 70, rounds: 6 })
  measurement.rounds.forEach(({ tollgate: [window] }, round) => {
    if (window !== undefined) window.cpuUs *= round % 2 === 0 ? 1.1 : 1
  })
  expect(tableOfLines(linesOf(measurement), 'abcd1234')).toMatch(/undecided, \+-4\.\d %, 6 rounds$/m)
  const short = measured('small-c16', { before: 70, tollgate: 70, rounds: 2 })
  expect(tableOfLines(linesOf(short), 'abcd1234')).toContain('undecided, 2 rounds of 6 at least')
})

/** Rounds in which each role's CPU of one call is as given, in microseconds. */
function measured(
  name: string,
  { rounds, ...cpu }: { rounds: number; yardstick?: number; before?: number; tollgate: number },
): Measurement {
  const scenario: Scenario | undefined = scenarios.find((scenario) => scenario.name === name)
  if (scenario === undefined) throw new Error(`There is no scenario ${name}.`)
  const of = (us: number | undefined) => (us === undefined ? [] : [sampleOf(us)])
  return {
    scenario,
    rounds: Array.from({ length: rounds }, (): Round => {
      return { yardstick: of(cpu.yardstick), before: of(cpu.before), tollgate: of(cpu.tollgate), direct: [] }
    }),
  }
}

function sampleOf(us: number, load: Partial<Sample['load']> = {}): Sample {
  const none = { latencyP50Us: 0, latencyP95Us: 0, latencyP99Us: 0, latencyMaxUs: 0 }
  return {
    cpuUs: us * 100,
    compilingUs: 0,
    postgresCpuUs: 1,
    lateCpuUs: us * 10,
    residentMb: 200,
    missing: 0,
    load: {
      ...none,
      sent: 100,
      errors: {},
      windowEvents: 100,
      windowCalls: 100,
      lateCalls: 10,
      eventsLost: 0,
      eventP50Us: 0,
      eventP99Us: 0,
      eventMaxUs: 0,
      ...load,
    },
  }
}
