import { rmSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { Adopter, markShipped } from './adopter.ts'
import type { Adoption } from './adoption.ts'
import { registerInstance, registration, sendHeartbeat } from './instances.ts'
import type { JournalPosition } from './journal-reader.ts'
import { ShipCalls } from './ship-calls.ts'
import { PositionError, Shipment } from './shipment.ts'

/** Messages of the API process to its shipper thread. `everyone`: all other processes must ship too. */
export type ToShipper =
  | { type: 'ship'; token: number; everyone: boolean }
  | { type: 'end'; deadlineMs: number }

/**
 * Messages of the thread to its process. `shipped` answers `ship`: Postgres has all frames that were written before it.
 * `away` and `back`: Postgres stopped answering, and answers again.
 */
export type FromShipper =
  | { type: 'shipped'; token: number }
  | { type: 'position'; position: JournalPosition }
  | { type: 'adopted'; instance: string; orphans: number }
  | { type: 'adoption'; adoption: Adoption }
  | { type: 'fenced'; message: string }
  | { type: 'away'; message: string }
  | { type: 'back' }
  | { type: 'log'; level: LogLevel; message: string; fields: object }

export interface ShipperData {
  root: string
  directory: string
  instanceId: string
  databaseUrl: string
  pid: number
  intervalMs: number
  batchBytes: number
  instanceDeadMs: number
  /** How long a caller of `shipNow` or `shipAll` waits. */
  onQueryMs: number
  /** How long, and up to how many bytes, shipped segments stay on disk. */
  keepMs: number
  keepBytesMax: number
}

/** Another process has taken this one for dead, and has adopted its journal. */
class FencedError extends Error {
  override readonly name = 'FencedError'
}

const heartbeatMs = 5_000
const sweepMs = 5_000
/** Also the time that other processes get for a heartbeat after Postgres was away for long. */
const retireMs = 60_000
const reconnectMs = { least: 100, most: 2_000 }
/** The bounds of the time that a statement may take. After it, the shipper gives up the connection and opens another. */
const answerMs = { least: 1_000, most: 300_000 }

if (parentPort !== null) void run(parentPort, workerData as ShipperData)

/**
 * The thread that ships journals to Postgres: its own process's journal, and the journals of dead processes on this disk.
 * While Postgres is away it waits, and loses nothing.
 */
async function run(port: MessagePort, data: ShipperData): Promise<void> {
  const post = (message: FromShipper) => port.postMessage(message)
  const log = relayLog((level, fields, message) => post({ type: 'log', level, message, fields }))
  const own = new Shipment({ ...data, growing: true, log })
  const adopter = new Adopter({
    ...data,
    log,
    onAdopted: (instance, orphans) => post({ type: 'adopted', instance, orphans }),
    onChange: (adoption) => post({ type: 'adoption', adoption }),
  })
  let requestedShips: { token: number; everyone: boolean }[] = []
  /** Deadline of the end; undefined: the process goes on. As all times here, of performance.now(), which never jumps. */
  let endsBy: number | undefined
  let wake = () => {}
  port.on('message', (message: ToShipper) => {
    if (message.type === 'ship') requestedShips.push(message)
    else endsBy = performance.now() + message.deadlineMs
    wake()
  })
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const postShipped = (tokens: readonly number[]) => {
    for (const token of tokens) post({ type: 'shipped', token })
  }
  const calls = new ShipCalls({
    instanceId: data.instanceId,
    waitMs: data.onQueryMs,
    deadMs: heartbeatMs * 3,
    onCall: () => wake(),
    onShipped: postShipped,
  })

  /** Postgres does not answer. */
  let away = false
  /** The backend of the previous connection, which must have ended before this thread continues. */
  let lostBackend: Backend | undefined
  // Short enough to reconnect before others take this process for dead. It doubles after each timeout.
  const queryTimeoutLeastMs = Math.max(answerMs.least, Math.ceil(data.instanceDeadMs / 3))
  let queryTimeoutMs = queryTimeoutLeastMs
  let retryMs: number = reconnectMs.least
  for (; ; retryMs = Math.min(retryMs * 2, reconnectMs.most)) {
    const client = new Client({
      connectionString: data.databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      application_name: 'tollgate shipper',
    })
    // A lost connection also fails the running query, whose error is handled below.
    client.on('error', () => {})
    try {
      await client.connect()
      if (lostBackend !== undefined) await endBackend(client, lostBackend)
      lostBackend = await backendOf(client)
      await calls.listen(client)
      await client.query(registerInstance, registration(data.instanceId, data.pid))
      await heartbeat(client)
      await own.resume(client)
      adopter.reconnect()
      await shipUntilEnd(client)
      await client.end()
      port.close()
      return
    } catch (error) {
      void client.end().catch(() => {})
      if (error instanceof FencedError) {
        post({ type: 'fenced', message: error.message })
        port.close()
        return
      }
      if (!away) post({ type: 'away', message: String(error) })
      away = true
      if (String(error).includes('Query read timeout'))
        queryTimeoutMs = Math.min(queryTimeoutMs * 2, answerMs.most)
      if (endsBy !== undefined && performance.now() >= endsBy) {
        log.warn({}, 'Postgres was away at the end: the journal stays on disk for the next process')
        port.close()
        return
      }
      await sleep(endsBy === undefined ? retryMs : Math.min(retryMs, Math.max(0, endsBy - performance.now())))
    }
  }

  async function shipUntilEnd(client: Client): Promise<void> {
    let nextHeartbeat = performance.now() + heartbeatMs
    let nextSweep = 0
    let nextRetirement = performance.now() + retireMs
    const sendHeartbeatWhenDue = async () => {
      if (performance.now() < nextHeartbeat) return
      await heartbeat(client)
      nextHeartbeat = performance.now() + heartbeatMs
    }
    for (;;) {
      // The process has written everything before it posts `end`. A pass that began before may miss the last frames.
      const isLast = endsBy !== undefined
      const answerable = [...requestedShips]
      const calling = calls.takeCalls()
      const end = own.end()
      while (own.isBefore(end) && (await shipOwn(client))) {
        if (endsBy !== undefined && performance.now() > endsBy) break
        // A long journal must keep neither the heartbeat nor the position waiting.
        post({ type: 'position', position: own.position })
        await sendHeartbeatWhenDue()
      }
      if (away) post({ type: 'back' })
      away = false
      queryTimeoutMs = queryTimeoutLeastMs
      retryMs = reconnectMs.least
      requestedShips = requestedShips.slice(answerable.length)
      const tokensOf = (everyone: boolean) =>
        answerable.filter((one) => one.everyone === everyone).map(({ token }) => token)
      postShipped(tokensOf(false))
      await calls.answer(client, calling)
      await calls.call(client, tokensOf(true))
      post({ type: 'position', position: own.position })
      await own.deleteShipped(client, data.keepMs, data.keepBytesMax)
      if (isLast) return finishOwn(client)
      await sendHeartbeatWhenDue()
      const isAdopting = await adopter.step(client)
      if (performance.now() >= nextSweep) {
        await client.query('SELECT sweep_reservations()')
        nextSweep = performance.now() + sweepMs
      }
      if (performance.now() >= nextRetirement) {
        await retireLost(client)
        nextRetirement = performance.now() + retireMs
      }
      const isIdle = requestedShips.length === 0 && !calls.isCalled && endsBy === undefined
      if (isIdle && !isAdopting) await sleep(data.intervalMs)
    }
  }

  async function shipOwn(client: Client): Promise<boolean> {
    try {
      return await own.shipNext(client)
    } catch (error) {
      if (!(error instanceof PositionError)) throw error
      await client.query('ROLLBACK')
      // Another process has adopted the journal, or Postgres has lost its last commits.
      await heartbeat(client)
      await own.resume(client, true)
      return true
    }
  }

  async function heartbeat(client: Client): Promise<void> {
    const state = await sendHeartbeat(client, data.instanceId, data.pid)
    if (state !== 'live')
      throw new FencedError(`instance ${data.instanceId} was taken for dead and adopted by another process`)
  }

  async function finishOwn(client: Client): Promise<void> {
    own.close()
    // Open requests, or frames that the deadline left behind: another process adopts the journal.
    if (own.openCount > 0 || own.isBefore(own.end())) return
    await own.finish(client)
    // A process that starts later deletes the directory of one that has ended.
    if (data.keepMs > 0) markShipped(data.directory)
    else rmSync(data.directory, { recursive: true, force: true })
  }

  async function retireLost(client: Client): Promise<void> {
    const retired = await client.query<{ id: string }>(
      `SELECT retire_lost_instances($1) AS id WHERE claim_sweep('lost_instances', $2)`,
      [data.instanceId, retireMs / 2],
    )
    for (const { id } of retired.rows) {
      log.warn(
        { instance: id },
        'a process was not heard of for a day and its journal is not here: what it held is released',
      )
    }
  }
}

/** A backend of Postgres. Postgres may give its pid to another backend, so it is identified by its start too. */
interface Backend {
  pid: number
  startedAt: string
}

async function backendOf(client: Client): Promise<Backend | undefined> {
  const found = await client.query<Backend>(
    `SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  return found.rows[0]
}

/**
 * End the backend of a lost connection before the shipper reads the journal's position. A Postgres that was paused, or
 * that did not notice the lost connection, could otherwise commit a batch after that read.
 */
async function endBackend(client: Client, { pid, startedAt }: Backend): Promise<void> {
  const found = await client.query<{ gone: boolean }>(
    `SELECT pg_terminate_backend(pid, $3) AS gone FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, startedAt, terminateMs],
  )
  if (found.rows.some(({ gone }) => !gone)) throw new Error('a lost connection to Postgres has not ended yet')
}

/** Shorter than every query timeout. */
const terminateMs = answerMs.least / 2
