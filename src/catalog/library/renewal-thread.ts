import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openConnections } from '../../db/connections.ts'
import { renewPrices } from './renew.ts'

export interface RenewalTask {
  url: string
  databaseUrl: string
}

/** The message of the thread. */
export type FromRenewalThread = { added: number } | { failed: string }

/** Postgres ends a longer statement, also one that waits for a lock. */
const statementMs = 60_000

if (parentPort !== null) void run(parentPort, workerData as RenewalTask)

/**
 * Renew the prices while the process serves. In a thread, because megabytes of JSON take a while to read, and
 * because a transaction whose connection dies ends the thread that it runs in (see db/database.ts).
 */
async function run(port: MessagePort, { url, databaseUrl }: RenewalTask) {
  const send = (message: FromRenewalThread) => port.postMessage(message)
  const connections = openConnections(databaseUrl, {
    max: 1,
    applicationName: 'tollgate prices',
    statementMs,
  })
  try {
    send({ added: await renewPrices(connections, url) })
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) })
  } finally {
    await connections.end()
  }
}
