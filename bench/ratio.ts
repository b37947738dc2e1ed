/** A ratio of two subjects with its interval of confidence. */
export interface Ratio {
  /** The geometric mean of the rounds' ratios. */
  value: number
  low: number
  high: number
  rounds: number
}

export type Verdict = 'worse' | 'not worse' | 'undecided'

/** A change is worse when it costs more than this, times what it cost before. */
export const worseAbove = 1.03
export const roundsMin = 5
export const roundsMax = 15

/**
 * The 95 % interval of ratios, one of each round. A round's processes are started for it alone, so that a process which is slow
 * for its whole life counts as one observation, however often it is measured. NaN where a ratio is not positive: an added
 * latency below the noise has none.
 */
export function ratioOf(ratios: readonly number[]): Ratio {
  return intervalOf(ratios, t95)
}

/**
 * What the rounds so far say, while more may follow. A look after each round would call chance a difference more often than 5
 * times in 100. So there is none before `roundsMin`, and each takes the 99 % interval. test/bench/ratio.test.ts plays this rule
 * thousands of times: a change that costs nothing is called worse in fewer than 1 of 200 runs, one that costs exactly 3 % in fewer
 * than 5 of 100.
 */
export function verdictSoFar(ratios: readonly number[]): Verdict {
  return ratios.length < roundsMin ? 'undecided' : sideOf(intervalOf(ratios, t99))
}

/** What the rounds say when no more follow, by their 95 % interval. */
export function lastVerdict(ratios: readonly number[]): Verdict {
  return ratios.length < roundsMin ? 'undecided' : sideOf(intervalOf(ratios, t95))
}

function sideOf({ low, high }: Ratio): Verdict {
  if (low > worseAbove) return 'worse'
  return high < worseAbove ? 'not worse' : 'undecided'
}

function intervalOf(ratios: readonly number[], quantiles: readonly number[]): Ratio {
  const rounds = ratios.length
  const logs = ratios.map(Math.log)
  const mean = logs.reduce((sum, log) => sum + log, 0) / rounds
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0)
  const quantile = quantiles[rounds - 2] ?? Number.POSITIVE_INFINITY
  const half = rounds < 2 ? Number.POSITIVE_INFINITY : quantile * Math.sqrt(squares / (rounds - 1) / rounds)
  return { value: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half), rounds }
}

/** Quantiles of Student's t for two sides, for 1 to 14 degrees of freedom. */
const t95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145]
const t99 = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977]
