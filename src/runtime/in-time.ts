/** The result did not arrive in time. */
export class LateError extends Error {
  override readonly name = 'LateError'
}

/**
 * Waits for work, but at most `waitMs`, and then rejects with a LateError whose message names `who`. The work
 * itself continues. A result that has arrived by then is used, even if this process was too busy to read it.
 */
export function inTime<T>(work: PromiseLike<T>, waitMs: number, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new LateError(`${who} did not respond within ${waitMs} ms`))
    // Timers run before sockets are read, so wait one more turn for a result that has already arrived.
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
