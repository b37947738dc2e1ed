/**
 * Measures time, but not the time in which the machine froze: what passes between two ticks counts for at most
 * `gapMsMax`. So a bound in a test says how long the tested work may take, and a machine that stops for seconds does not
 * break it. Work that hangs still takes longer than any bound.
 */
export interface Stopwatch {
  /** Milliseconds since the start. */
  readonly ms: number
}

const tickMs = 10
const gapMsMax = 250

let countedMs = 0
let notedAt = performance.now()
/** The timer of all stopwatches. It does not keep the process. */
setInterval(note, tickMs).unref()

export function startStopwatch(): Stopwatch {
  note()
  const begunMs = countedMs
  return {
    get ms() {
      note()
      return countedMs - begunMs
    },
  }
}

function note(): void {
  const now = performance.now()
  countedMs += Math.min(now - notedAt, gapMsMax)
  notedAt = now
}
