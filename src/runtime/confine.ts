import type { Duplex, Readable, Writable } from 'node:stream'

/**
 * A failure in a request or stream must end only that request or stream. An error thrown by an emitter's
 * handler, or an `error` event without a listener, would end the process. test/confinement.test.ts verifies
 * that all code in src and workers uses these three functions.
 */

type AnyStream = Readable | Writable | Duplex

/**
 * Wraps a handler of an emitter or timer so that it never throws. Its error is passed to `fail`, which must
 * not throw either. The handler's return value is ignored.
 */
export function confined<A extends unknown[]>(
  fail: (error: unknown) => void,
  handler: (...args: A) => void,
): (...args: A) => void {
  return (...args) => {
    try {
      handler(...args)
    } catch (error) {
      fail(error)
    }
  }
}

/**
 * Takes over a stream created by other code, before anything else is done with it. Its reader also gets its
 * errors, but before and after that nothing would be listening.
 */
export function adopt<S extends AnyStream>(stream: S): S {
  stream.on('error', heard)
  return stream
}

/** Destroys a stream with an error that its readers and writers receive. */
export function breakOff(stream: AnyStream, error: Error): void {
  adopt(stream).destroy(error)
}

function heard(): void {}

/** Returns the result of `read`, or the fallback if it throws. */
export function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}
