/** The time. The entry of a process, a thread or a command makes it, and passes it on as an argument. */
export interface Clock {
  /** Whole milliseconds since the epoch. It jumps when the clock of the machine is set. */
  now(): number
  /** Milliseconds since some moment, with fractions. It never jumps: use it to measure and to wait. */
  elapsed(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
}
