import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { TimeoutBounds } from '../catalog/read-connection.ts'
import { openConnections } from '../db/connections.ts'
import { isPassing, reasonOf } from '../db/failures.ts'
import { readKeeper, type SecretKeys } from '../secrets/open-masters.ts'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { applyGatewayFile } from './apply-gateway-file.ts'
import type { GeneratedKey } from './apply-tenants.ts'
import { logFileOutcome } from './gateway-file-log.ts'
import { readWithState, type SeenFiles } from './gateway-file-state.ts'

export interface GatewayFileTask extends SecretKeys {
  path: string
  environment: Record<string, string | undefined>
  databaseUrl: string
  /** The timeouts of the process. If absent, channels' timeouts are not checked against them. */
  bounds?: TimeoutBounds
}

/**
 * The messages of the thread. `read` contains the files that the thread is about to read, and their state
 * before. The last message is `done` or `failed`. `passing`: applying the same file later may succeed.
 */
export type FromGatewayFileThread =
  | { type: 'log'; level: LogLevel; fields: object; message: string }
  | ({ type: 'read' } & SeenFiles)
  | { type: 'done'; generated: GeneratedKey[] }
  | { type: 'failed'; message: string; passing: boolean }

/** Postgres aborts statements that take longer, including those that wait for a lock. */
const statementMs = 60_000

if (parentPort !== null) void run(parentPort, workerData as GatewayFileTask)

/**
 * Applies gateway.yaml while the process serves requests. It runs in a thread because reading a large file
 * takes half a second, and because a transaction whose connection is lost ends its thread (see
 * db/database.ts).
 */
async function run(port: MessagePort, { path, environment, databaseUrl, bounds, ...keys }: GatewayFileTask) {
  const send = (message: FromGatewayFileThread) => port.postMessage(message)
  const log = relayLog((level, fields, message) => send({ type: 'log', level, fields, message }))
  const connections = openConnections(databaseUrl, {
    max: 1,
    applicationName: 'tollgate gateway.yaml',
    statementMs,
  })
  try {
    const keeper = await readKeeper(connections.sql, keys)
    const { source, seen } = await readWithState(path, environment, bounds)
    send({ type: 'read', ...seen })
    const outcome = await applyGatewayFile(connections, source, keeper)
    logFileOutcome(log, { ...source, hash: source.hashWith(keeper.fileKey) }, outcome)
    send({ type: 'done', generated: outcome.kind === 'applied' ? outcome.generated : [] })
  } catch (error) {
    const reason = reasonOf(error)
    const message = reason instanceof Error ? reason.message : String(reason)
    send({ type: 'failed', message, passing: isPassing(reason) })
  } finally {
    await connections.end()
  }
}
