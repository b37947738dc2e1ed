import { expect, test } from 'vitest'
import { lastVerdict, ratioOf, roundsMax, roundsMin, type Verdict, verdictSoFar } from '../../bench/ratio.ts'
import { Random } from '../support/random.ts'

test('the interval of ratios is that of the signed ranks of their logarithms', () => {
  // Six rounds: the 95 % interval goes from the smallest to the largest. Ten: from the 9th of 55 means to the 9th from behind.
  const six = [0.98, 0.99, 1, 1.01, 1.02, 1.03]
  expect(ratioOf(six)).toMatchObject({ rounds: 6 })
  expect(ratioOf(six).low).toBeCloseTo(0.98, 10)
  expect(ratioOf(six).high).toBeCloseTo(1.03, 10)
  const ten = Array.from({ length: 10 }, (_, round) => Math.exp(round))
  expect(Math.log(ratioOf(ten).value)).toBeCloseTo(4.5, 10)
  expect(Math.log(ratioOf(ten).low)).toBeCloseTo(2, 10)
  expect(Math.log(ratioOf(ten).high)).toBeCloseTo(7, 10)
})

test('one wild round of twelve widens the interval little', () => {
  const ratios = [0.99, 1, 1.01, 0.995, 1.005, 1, 0.99, 1.01, 1, 0.99, 1.01]
  const { value, low, high } = ratioOf([...ratios, 0.46])
  expect(value).toBeGreaterThan(0.995)
  expect(low).toBeGreaterThan(0.98)
  expect(high).toBeLessThan(1.02)
})

test('fewer than six rounds say nothing about how sure they are', () => {
  expect(ratioOf([1.2, 1.2, 1.2, 1.2, 1.2])).toMatchObject({ low: 0, high: Number.POSITIVE_INFINITY })
})

test('too few rounds have no verdict, however clear they are', () => {
  const clear = Array.from({ length: roundsMin - 1 }, (_, round) => 1.5 + round / 1e6)
  expect([verdictSoFar(clear), lastVerdict(clear)]).toEqual(['undecided', 'undecided'])
  expect([verdictSoFar([...clear, 1.5]), lastVerdict([...clear, 1.5])]).toEqual(['undecided', 'worse'])
})

test('while more rounds may follow, a verdict needs to be surer than at the end', () => {
  const ratios = [1.05, 1.07, 1.025, 1.06, 1.04, 1.055, 1.05, 1.06]
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
    expect(sharesOf(1, noise).worse).toBeLessThan(0.005)
    const atLimit = sharesOf(1.03, noise)
    expect(atLimit.worse).toBeLessThan(0.05)
    expect(atLimit['not worse']).toBeLessThan(0.05)
  },
)

test('with the noise of a quiet machine a change of 5 percent is found', () => {
  expect(sharesOf(1.05, 0.015).worse).toBeGreaterThan(0.95)
})

/** The parts of many comparisons that had each verdict. */
function sharesOf(ratio: number, noise: number): Record<Verdict, number> {
  const random = new Random(39)
  const shares = { worse: 0, 'not worse': 0, undecided: 0 }
  for (let run = 0; run < runs; run++) shares[play(random, ratio, noise).verdict] += 1 / runs
  return shares
}

const runs = 2_000

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
