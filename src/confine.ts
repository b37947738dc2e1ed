import type { Duplex, Readable, Writable } from 'node:stream'

/**
 * What goes wrong within a request or a stream ends that alone. An error that an emitter's handler throws,
 * and an event `error` without a listener, would end the process: test/confinement.test.ts holds all of src
 * and workers to these three.
 */

type AnyStream = Readable | Writable | Duplex

/**
 * A handler of an emitter or a timer that never throws: its error goes to `fail`, which must not throw
 * either. The value that the handler returns is dropped.
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
 * Take a stream that other code made, before anything else is done with it. Its reader gets its error too;
 * before and after that, nothing would listen.
 */
export function adopt<S extends AnyStream>(stream: S): S {
  stream.on('error', heard)
  return stream
}

/** Destroy a stream with the error that its readers and writers get. */
export function breakOff(stream: AnyStream, error: Error): void {
  adopt(stream).destroy(error)
}

function heard(): void {}

/** What `read` returns, or the fallback where it throws. */
export function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read()
  } catch {
    return fallback
  }
}
