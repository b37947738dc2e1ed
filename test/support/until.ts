import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'
import { startStopwatch } from './stopwatch.ts'

/**
 * How long a test waits for a state: what the slowest machine needs, with everything else that runs on it. Only a test that fails waits
 * this long, so a shorter bound gains nothing.
 */
export const patienceMs = 90_000

const intervalMs = 10

type NotYet = undefined | false

/**
 * Waits until `isSo` returns anything but undefined or false, and returns that. Throws after `withinMs`, which is long
 * because only a test that fails waits for it. The time in which the machine froze does not count.
 */
export async function until<T>(
  isSo: () => T | Promise<T>,
  withinMs = patienceMs,
): Promise<Exclude<T, NotYet>> {
  const watch = startStopwatch()
  for (;;) {
    const answer = await isSo()
    if (isThere(answer)) return answer
    if (watch.ms > withinMs) throw new Error(`not so within ${withinMs} ms: ${isSo}`)
    await sleep(intervalMs)
  }
}

function isThere<T>(answer: T): answer is Exclude<T, NotYet> {
  return answer !== undefined && answer !== false
}

/** Waits until `read` has returned the same for `forMs`, and returns that. Throws after `patienceMs`. */
export async function untilSteady<T>(read: () => T, forMs: number): Promise<T> {
  let last = read()
  let sinceMs = performance.now()
  await until(() => {
    const now = read()
    if (now !== last) sinceMs = performance.now()
    last = now
    return performance.now() - sinceMs >= forMs
  })
  return last
}

/** Run `check` again and again for `ms`. Use it to show that something does not happen: `check` throws when it does. */
export async function holdsFor(ms: number, check: () => unknown): Promise<void> {
  const endMs = performance.now() + ms
  do {
    await check()
    await sleep(intervalMs)
  } while (performance.now() < endMs)
}

/** Waits for a random time of at most `mostMs`, so that the next step comes at any moment of the running work. */
export async function anyMoment(random: Random, mostMs: number): Promise<void> {
  await sleep(random.upTo(mostMs))
}
