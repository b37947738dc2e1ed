import { expect, test } from 'vitest'
import { declared } from '../../../src/telemetry/metrics/declarations.ts'
import { MetricsOfProcesses, type ProcessReport } from '../../../src/telemetry/metrics/of-processes.ts'
import { Metrics, type SeriesSnapshot } from '../../../src/telemetry/metrics/store.ts'
import { seeded } from '../../support/random.ts'
import { until } from '../../support/until.ts'

/** What a supervisor says about processes that count, freeze and die. */

interface FakeProcess extends ProcessReport {
  count(requests: number): void
  standsStill: boolean
  /** It says its values unasked, as at its end. */
  say(): void
  withShared: boolean[]
}

function aProcess(): FakeProcess {
  const metrics = new Metrics()
  const asked: boolean[] = []
  let last: SeriesSnapshot | undefined
  return {
    standsStill: false,
    withShared: asked,
    get last() {
      return last
    },
    count(requests) {
      metrics.cells(declared.localDecisions).at().value += requests
      for (let i = 0; i < requests; i++) metrics.distributions(declared.firstToken).at('main').observe(0.3)
      metrics.cells(declared.inFlight).at().value = requests
      metrics.cells(declared.oldestUnshipped).at().value = requests
      metrics.cells(declared.postgresUp).at().value = requests === 13 ? 0 : 1
    },
    say() {
      last = metrics.values()
    },
    async ask(withShared) {
      asked.push(withShared)
      if (this.standsStill) throw new Error('it does not answer')
      this.say()
      return metrics.values()
    },
  }
}

async function seen(processes: MetricsOfProcesses) {
  const all = new Metrics()
  all.merge(await processes.collect())
  const value = (
    of: 'localDecisions' | 'inFlight' | 'oldestUnshipped' | 'postgresUp' | 'processes' | 'leftOut',
  ) => all.cells(declared[of]).at().value
  const { counts, sum } = all.distributions(declared.firstToken).at('main')
  return { value, observed: counts.reduce((a, b) => a + b, 0), sum }
}

test('counts add up, and a gauge is the sum, the largest or the smallest', async () => {
  const processes = new MetricsOfProcesses(2)
  const [one, other] = [aProcess(), aProcess()]
  processes.began(one)
  processes.began(other)
  one.count(3)
  other.count(13)
  const { value, observed, sum } = await seen(processes)
  expect(value('localDecisions')).toBe(16)
  expect(observed).toBe(16)
  expect(sum).toBeCloseTo(16 * 0.3)
  expect(value('inFlight')).toBe(16)
  expect(value('oldestUnshipped')).toBe(13)
  expect(value('postgresUp')).toBe(0)
  expect(value('processes')).toBe(2)
  // What is the same for all is read by one of them.
  expect([...one.withShared, ...other.withShared].filter(Boolean)).toHaveLength(1)
  processes.stop()
})

test('a process that freezes keeps its counts, and loses its gauges; when it answers again nothing jumps', async () => {
  const processes = new MetricsOfProcesses(2)
  const [one, other] = [aProcess(), aProcess()]
  processes.began(one)
  processes.began(other)
  one.count(3)
  other.count(5)
  await processes.collect()
  other.standsStill = true
  other.count(5)
  one.count(1)
  const during = await seen(processes)
  expect(during.value('localDecisions')).toBe(9)
  expect(during.observed).toBe(9)
  expect(during.value('inFlight')).toBe(1)
  expect(during.value('oldestUnshipped')).toBe(1)
  expect(during.value('processes')).toBe(1)
  expect(during.value('leftOut')).toBe(1)
  other.standsStill = false
  const later = await seen(processes)
  expect(later.value('localDecisions')).toBe(14)
  expect(later.value('processes')).toBe(2)
  processes.stop()
})

test('counts of a process that ended stay, once, and the one in its place adds to them', async () => {
  const processes = new MetricsOfProcesses(1)
  const [first, second, third] = [aProcess(), aProcess(), aProcess()]
  processes.began(first)
  first.count(7)
  await processes.collect()
  // It was killed: no one knows of these two.
  first.count(2)
  processes.ended(first)
  processes.ended(first)
  expect((await seen(processes)).value('localDecisions')).toBe(7)
  expect((await seen(processes)).value('inFlight')).toBeNaN()
  processes.began(second)
  second.count(4)
  // This one said its last words.
  second.say()
  processes.ended(second)
  processes.began(third)
  third.count(1)
  const { value, observed } = await seen(processes)
  expect(value('localDecisions')).toBe(12)
  expect(observed).toBe(12)
  expect(value('processes')).toBe(1)
  processes.stop()
})

test('one that ends while another is waited for is counted once', async () => {
  const processes = new MetricsOfProcesses(2)
  const [one, slow] = [aProcess(), aProcess()]
  const slowly = Promise.withResolvers<SeriesSnapshot>()
  slow.ask = () => slowly.promise
  processes.began(one)
  processes.began(slow)
  one.count(7)
  const looking = seen(processes)
  // It has answered, and the other has not.
  await until(() => one.last !== undefined)
  processes.ended(one)
  slow.count(5)
  slow.say()
  slowly.reject(new Error('late'))
  const during = await looking
  expect(during.value('localDecisions')).toBe(12)
  expect(during.observed).toBe(12)
  expect(during.value('processes')).toBe(0)
  slow.ask = async () => ({})
  expect((await seen(processes)).value('localDecisions')).toBe(12)
  processes.stop()
})

test('what all processes share is read by one that answers', async () => {
  const processes = new MetricsOfProcesses(2)
  const [still, other] = [aProcess(), aProcess()]
  still.standsStill = true
  processes.began(still)
  processes.began(other)
  await processes.collect()
  await processes.collect()
  expect(other.withShared).toEqual([false, true])
  expect(still.withShared).toEqual([true, false])
  processes.stop()
})

test('sums of whole numbers are exact, in any order, up to millions of dollars in billionths', () => {
  const random = seeded(54)
  for (let round = 0; round < 200; round++) {
    const values = Array.from({ length: 4 }, () => random.upTo(2 ** 25) * 2 ** 25 + random.upTo(2 ** 25))
    const sum = (of: readonly number[]) => {
      const all = new Metrics()
      for (const value of of) {
        const one = new Metrics()
        one.cells(declared.heldUsd).at().value = value
        all.merge(one.values())
      }
      return all.cells(declared.heldUsd).at().value
    }
    const exact = Number(values.reduce((total, value) => total + BigInt(value), 0n))
    expect(sum(values)).toBe(exact)
    expect(sum(values.toReversed())).toBe(exact)
  }
})

test('a sum of fractions is the same in any order, so that no total falls when a process ends', () => {
  const sumOf = (values: readonly number[]) => {
    const all = new Metrics()
    for (const value of values) {
      const one = new Metrics()
      one.distributions(declared.firstToken).at('scripted').observe(value)
      one.cells(declared.cost).at('scripted', 'main').value += value
      all.merge(one.values())
    }
    return all.values()
  }
  expect(0.1 + 0.2 + 0.3).not.toBe(0.3 + 0.2 + 0.1)
  expect(sumOf([0.1, 0.2, 0.3])).toEqual(sumOf([0.3, 0.2, 0.1]))
})
