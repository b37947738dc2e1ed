/**
 * The first millisecond of each bucket except the first bucket, which only contains 0 ms. There are four
 * buckets per doubling, so an estimate in the middle of its bucket is off by less than 10 %. The SQL function
 * latency_bucket has the same list.
 */
export const bucketStarts: readonly number[] = [
  1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 23, 27, 32, 39, 46, 54, 64, 77, 91, 108, 128, 153, 182, 216,
  256, 305, 363, 431, 512, 609, 725, 862, 1024, 1218, 1449, 1723, 2048, 2436, 2897, 3445, 4096, 4871, 5793,
  6889, 8192, 9742, 11586, 13778, 16384, 19484, 23171, 27555, 32768, 38968, 46341, 55109, 65536, 77936, 92682,
  110218, 131072, 155872, 185364, 220436, 262144, 311744, 370728, 440872, 524288, 623488, 741456, 881744,
  1048576, 1246975, 1482911, 1763488, 2097152, 2493949, 2965821, 3526976, 4194304, 4987897, 5931642, 7053951,
  8388608, 9975793, 11863284, 14107901, 16777216, 19951585, 23726567, 28215802, 33554432, 39903170, 47453133,
  56431604, 67108864, 79806339, 94906266, 112863207, 134217728, 159612678, 189812532, 225726413, 268435456,
  319225355, 379625063, 451452826, 536870912, 638450709, 759250125, 902905651, 1073741824, 1276901417,
  1518500250, 1805811302,
]

/**
 * The number of decimal digits per bucket in a histogram, which Postgres stores as one number, so that it can
 * add histograms as numbers.
 */
const digits = 12

/** The percentiles of a histogram in milliseconds; null if it is empty. */
export interface LatencyJson {
  count: number
  p50: number
  p95: number
  p99: number
}

/** `histogram` contains the decimal digits of the number. */
export function latencyOf(histogram: string): LatencyJson | null {
  const counts = countsOf(histogram)
  const count = counts.reduce((sum, each) => sum + each, 0)
  if (count === 0) return null
  const at = (fraction: number) => percentile(counts, Math.ceil(count * fraction))
  return { count, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

function countsOf(histogram: string): number[] {
  const counts: number[] = []
  for (let end = histogram.length; end > 0; end -= digits) {
    counts.push(Number(histogram.slice(Math.max(0, end - digits), end)))
  }
  return counts
}

/** The latency at this position in ascending order, from 1. */
function percentile(counts: readonly number[], place: number): number {
  let passed = 0
  for (const [bucket, count] of counts.entries()) {
    passed += count
    if (passed >= place) return middleOf(bucket)
  }
  return middleOf(counts.length - 1)
}

/** The geometric middle of a bucket: every value in the bucket is within 10 % of it. */
function middleOf(bucket: number): number {
  if (bucket === 0) return 0
  const least = bucketStarts[bucket - 1] ?? 0
  const most = (bucketStarts[bucket] ?? least + 1) - 1
  const middle = Math.sqrt(least * most)
  return middle < 100 ? Math.round(middle * 10) / 10 : Math.round(middle)
}
