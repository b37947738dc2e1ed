/**
 * A source of time. The entry point of a process, thread or command creates it and passes it on as an
 * argument.
 */
export interface Clock {
  /** Returns whole milliseconds since the epoch. The value jumps when the clock of the machine is set. */
  now(): number
  /**
   * Returns milliseconds since an arbitrary moment, including fractions. The value never jumps, so use it for
   * measuring and waiting.
   */
  elapsed(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
}
