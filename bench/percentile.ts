/** The value below which the given share (0..1) of the samples lies; NaN for none. Sorts a copy: exact, no buckets. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(samples: ArrayLike<number>): number {
  const sorted = Float64Array.from(samples).sort()
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper
}
