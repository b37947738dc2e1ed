/** The parts of a series that a click needs. */
interface Stacked {
  name: string
  values: readonly (number | null)[]
}

/** The series of a stack that is at `height` in a bucket; undefined above the stack. */
export function seriesAt(series: readonly Stacked[], bucket: number, height: number): string | undefined {
  let top = 0
  for (const { name, values } of series) {
    const value = values[bucket] ?? 0
    top += value
    if (value > 0 && height <= top) return name
  }
  return undefined
}

/**
 * Where a key leads from a bucket; undefined: the key is none of the chart's. Without a bucket it begins at
 * the last one.
 */
export function stepTo(key: string, bucket: number | undefined, buckets: number): number | undefined {
  const last = buckets - 1
  switch (key) {
    case 'ArrowLeft':
      return bucket === undefined ? last : Math.max(0, bucket - 1)
    case 'ArrowRight':
      return bucket === undefined ? last : Math.min(last, bucket + 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

/**
 * The part of a bar that a key chooses, from the lowest one up; undefined: all of the bar. Parts without a
 * value are passed over.
 */
export function partStep(
  key: 'ArrowUp' | 'ArrowDown',
  series: readonly Stacked[],
  bucket: number,
  part: string | undefined,
): string | undefined {
  const names = series.filter(({ values }) => (values[bucket] ?? 0) > 0).map(({ name }) => name)
  const at = part === undefined ? (key === 'ArrowUp' ? -1 : names.length) : names.indexOf(part)
  return names[key === 'ArrowUp' ? at + 1 : at - 1]
}
