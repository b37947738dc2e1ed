import { expect, test } from 'vitest'
import { lastVerdict, ratioOf, roundsMax, roundsMin, type Verdict, verdictSoFar } from '../../bench/ratio.ts'
import { Random } from '../support/random.ts'

test('the interval of ratios is that of Student for their logarithms', () => {
  // Logarithms 0.01, 0.02, 0.03: mean 0.02, deviation 0.01, t of two degrees 4.303.
  const { value, low, high, rounds } = ratioOf([0.01, 0.02, 0.03].map(Math.exp))
  const half = (4.303 * 0.01) / Math.sqrt(3)
  expect(Math.log(value)).toBeCloseTo(0.02, 10)
  expect(Math.log(low)).toBeCloseTo(0.02 - half, 10)
  expect(Math.log(high)).toBeCloseTo(0.02 + half, 10)
  expect(rounds).toBe(3)
})

test('one round says nothing about how sure it is', () => {
  expect(ratioOf([1.2])).toMatchObject({ low: 0, high: Number.POSITIVE_INFINITY })
})

test('too few rounds have no verdict, however clear they are', () => {
  const clear = Array.from({ length: roundsMin - 1 }, (_, round) => 1.5 + round / 1e6)
  expect([verdictSoFar(clear), lastVerdict(clear)]).toEqual(['undecided', 'undecided'])
  expect([verdictSoFar([...clear, 1.5]), lastVerdict([...clear, 1.5])]).toEqual(['worse', 'worse'])
})

test('while more rounds may follow, a verdict needs to be surer than at the end', () => {
  const ratios = [1.05, 1.07, 1.03, 1.06, 1.04, 1.055]
  expect([verdictSoFar(ratios), lastVerdict(ratios)]).toEqual(['undecided', 'worse'])
})

test('a verdict that ends a scenario is also that of its last interval', () => {
  const random = new Random(5)
  for (let run = 0; run < 500; run++) {
    const { verdict, ratios } = play(random, 1.03, 0.02)
    expect(lastVerdict(ratios)).toBe(verdict)
  }
})

test.each([5, 20, 50])(
  'with noise of %d parts in 1,000 a change that costs nothing is not called worse, and one of 3 percent seldom',
  (thousandths) => {
    const noise = thousandths / 1_000
    expect(shareOf('worse', 1, noise)).toBeLessThan(0.005)
    expect(shareOf('worse', 1.03, noise)).toBeLessThan(0.05)
    expect(shareOf('not worse', 1.03, noise)).toBeLessThan(0.05)
  },
)

test('with the noise of a quiet machine a change of 5 percent is found', () => {
  expect(shareOf('worse', 1.05, 0.015)).toBeGreaterThan(0.95)
})

function shareOf(wanted: Verdict, ratio: number, noise: number): number {
  const random = new Random(39)
  let found = 0
  for (let run = 0; run < runs; run++) if (play(random, ratio, noise).verdict === wanted) found++
  return found / runs
}

const runs = 10_000

/** A whole comparison of commits that truly differ by `ratio`, with normal noise in each round's logarithm. */
function play(random: Random, ratio: number, noise: number): { verdict: Verdict; ratios: number[] } {
  const ratios: number[] = []
  while (ratios.length < roundsMax) {
    ratios.push(ratio * Math.exp(noise * normal(random)))
    const verdict = verdictSoFar(ratios)
    if (verdict !== 'undecided') return { verdict, ratios }
  }
  return { verdict: lastVerdict(ratios), ratios }
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}
