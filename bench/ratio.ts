import { median } from './percentile.ts'

/** A ratio of two subjects with its interval of confidence. */
export interface Ratio {
  /** The median of the means of all pairs of rounds (Hodges and Lehmann). */
  value: number
  low: number
  high: number
  rounds: number
}

export type Verdict = 'worse' | 'not worse' | 'undecided'

/** A change is worse when it costs more than this, times what it cost before. */
export const worseAbove = 1.03
/** The fewest of which an interval of 95 % can be made. One of 99 % needs eight. */
export const roundsMin = 6
export const roundsMax = 15

/**
 * The 95 % interval of ratios, one of each round. A round's processes are started for it alone, so that a process which is slow
 * for its whole life counts as one observation, however often it is measured. The interval is that of Wilcoxon's signed ranks:
 * in some rounds the collector or the compiler makes one process cost half or twice as much, and such a round must not count
 * for more than one that is a little off. NaN where a ratio is not positive: an added latency below the noise has none.
 */
export function ratioOf(ratios: readonly number[]): Ratio {
  return intervalOf(ratios, cuts95)
}

/**
 * What the rounds so far say, while more may follow. A look after each round would call chance a difference more often than 5
 * times in 100, so each takes the 99 % interval. test/bench/ratio.test.ts plays this rule thousands of times: a change that costs
 * nothing is called worse in fewer than 1 of 200 runs, one that costs exactly 3 % in fewer than 5 of 100.
 */
export function verdictSoFar(ratios: readonly number[]): Verdict {
  return ratios.length < roundsMin ? 'undecided' : sideOf(intervalOf(ratios, cuts99))
}

/** What the rounds say when no more follow, by their 95 % interval. */
export function lastVerdict(ratios: readonly number[]): Verdict {
  return ratios.length < roundsMin ? 'undecided' : sideOf(intervalOf(ratios, cuts95))
}

function sideOf({ low, high }: Ratio): Verdict {
  if (low > worseAbove) return 'worse'
  return high < worseAbove ? 'not worse' : 'undecided'
}

function intervalOf(ratios: readonly number[], cuts: readonly number[]): Ratio {
  const rounds = ratios.length
  const logs = ratios.map(Math.log)
  const means = new Float64Array((rounds * (rounds + 1)) / 2)
  let made = 0
  for (const [index, log] of logs.entries())
    for (const other of logs.slice(index)) means[made++] = (log + other) / 2
  means.sort()
  const cut = cuts[rounds - roundsMin] ?? 0
  const at = (index: number, otherwise: number) =>
    cut === 0 ? otherwise : Math.exp(means[index] ?? Number.NaN)
  return {
    value: Math.exp(median(means)),
    low: at(cut - 1, 0),
    high: at(means.length - cut, Number.POSITIVE_INFINITY),
    rounds,
  }
}

/**
 * How many of the means lie outside of the interval on each side, for 6 to 15 rounds: one more than the critical value of the signed
 * ranks for two sides. 0: too few rounds.
 */
const cuts95 = [1, 3, 4, 6, 9, 11, 14, 18, 22, 26]
const cuts99 = [0, 0, 1, 2, 4, 6, 8, 10, 13, 16]
