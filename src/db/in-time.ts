/**
 * Wait for work, but no longer than `waitMs`: then call `onLate` and reject. The work itself goes on. For statements:
 * postgres.js may wait for ever for a connection that died at the wrong moment (see Database#renew).
 */
export async function inTime<T>(work: PromiseLike<T>, waitMs: number, onLate?: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate?.()
      reject(new Error(`the database did not answer within ${waitMs} ms`))
    }, waitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
