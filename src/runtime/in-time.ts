/** The answer did not come in time. */
export class LateError extends Error {
  override readonly name = 'LateError'
}

/**
 * Wait for work, but no longer than `waitMs`: then reject with a LateError, whose message names `who`. The
 * work itself goes on. An answer that has arrived by then counts, even if this process was too busy to read
 * it.
 */
export function inTime<T>(work: PromiseLike<T>, waitMs: number, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new LateError(`${who} did not answer within ${waitMs} ms`))
    // Timers run before sockets are read: one more turn lets an answer that waits there come first.
    const timer = setTimeout(() => setImmediate(late), waitMs)
    work.then(
      (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
