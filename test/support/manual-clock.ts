import type { Clock } from '../../src/runtime/clock.ts'

/** A clock that moves only when its test says so. */
export interface ManualClock extends Clock {
  pass(ms: number): void
}

export function manualClock(startMs = 1_800_000_000_000): ManualClock {
  let passedMs = 0
  return {
    now: () => startMs + passedMs,
    elapsed: () => passedMs,
    pass(ms) {
      passedMs += ms
    },
  }
}
