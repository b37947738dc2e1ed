import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { openConnections } from '../../db/connections.ts'
import { renewPrices } from './renew.ts'

export interface RenewalTask {
  url: string
  databaseUrl: string
}

/** The result that the thread reports. */
export type FromRenewalThread = { added: number } | { failed: string }

/** Postgres aborts statements that take longer, including those that wait for a lock. */
const statementMs = 60_000

if (parentPort !== null) void run(parentPort, workerData as RenewalTask)

/**
 * Renews the prices while the process serves requests. It runs in a thread because parsing megabytes of JSON
 * takes a while, and because a transaction whose connection is lost ends its thread (see db/database.ts).
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
