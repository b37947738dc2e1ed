import { setTimeout as sleep } from 'node:timers/promises'

/**
 * End a statement of postgres.js on the server, if it is one. Calls `isRunning` until Postgres has the statement: a statement
 * that postgres.js still keeps cannot be taken back without losing its connection. Resolves when the server has the order, so
 * that it cannot hit the next statement of the connection; never rejects.
 *
 * We do not call `Query.cancel()`: it drops a promise that rejects when the server cannot be reached, which would end the
 * process.
 */
export async function cancelStatement(statement: unknown, isRunning: () => boolean): Promise<void> {
  if (typeof statement !== 'object' || statement === null) return
  const cancel: unknown = Reflect.get(statement, 'canceller')
  if (typeof cancel !== 'function') return
  while (Reflect.get(statement, 'active') !== true) {
    await sleep(retryMs, undefined, { ref: false })
    if (!isRunning()) return
  }
  await Promise.race([
    Promise.resolve(Reflect.apply(cancel, undefined, [statement])).catch(() => {}),
    sleep(cancelMs, undefined, { ref: false }),
  ])
}

const retryMs = 20
const cancelMs = 3_000
