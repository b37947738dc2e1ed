import { existsSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { listJournals, ownerState } from './journal-directory.ts'
import { ShipCalls } from './ship-calls.ts'
import { FencedError, Shipment } from './shipment.ts'

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
  | { type: 'freed'; bytes: number }
  | { type: 'adopted'; instance: string; orphans: number }
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
}

const heartbeatMs = 5_000
const adoptMs = 5_000
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
      await register(client, data)
      await own.resume(client)
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
    let nextAdoption = 0
    let nextRetirement = performance.now() + retireMs
    const sendHeartbeatWhenDue = async () => {
      if (performance.now() < nextHeartbeat) return
      await heartbeat(client, data.instanceId)
      nextHeartbeat = performance.now() + heartbeatMs
    }
    for (;;) {
      // The process has written everything before it posts `end`. A pass that began before may miss the last frames.
      const isLast = endsBy !== undefined
      const answerable = [...requestedShips]
      const calling = calls.takeCalls()
      const end = own.end()
      while (own.isBefore(end) && (await own.shipNext(client))) {
        if (endsBy !== undefined && performance.now() > endsBy) break
        // A long journal must not keep the heartbeat from being sent in time.
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
      const freed = await own.deleteShipped(client)
      if (freed > 0) post({ type: 'freed', bytes: freed })
      if (isLast) return finishOwn(client)
      await sendHeartbeatWhenDue()
      if (performance.now() >= nextAdoption) {
        await adoptDead(client)
        await client.query('SELECT sweep_reservations()')
        nextAdoption = performance.now() + adoptMs
      }
      if (performance.now() >= nextRetirement) {
        await retireLost(client)
        nextRetirement = performance.now() + retireMs
      }
      if (requestedShips.length === 0 && !calls.isCalled && endsBy === undefined) await sleep(data.intervalMs)
    }
  }

  async function finishOwn(client: Client): Promise<void> {
    own.close()
    // Open requests, or frames that the deadline left behind: another process adopts the journal.
    if (own.openCount > 0 || own.isBefore(own.end())) return
    await own.finish(client)
    rmSync(data.directory, { recursive: true, force: true })
  }

  async function adoptDead(client: Client): Promise<void> {
    for (const { instance, directory } of listJournals(data.root)) {
      if (instance === data.instanceId) continue
      const state = ownerState(directory)
      if (state === 'alive') continue
      if (state === 'elsewhere' && !(await isSilent(client, instance, data.instanceDeadMs))) continue
      await adoptOne(client, instance, directory)
    }
  }

  async function retireLost(client: Client): Promise<void> {
    const retired = await client.query<{ id: string }>('SELECT retire_lost_instances($1) AS id', [
      data.instanceId,
    ])
    for (const { id } of retired.rows) {
      log.warn(
        { instance: id },
        'a process was not heard of for a day and its journal is not here: what it held is released',
      )
    }
  }

  async function adoptOne(client: Client, instance: string, directory: string): Promise<void> {
    const locked = await client.query<{ ok: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 7)) AS ok',
      [instance],
    )
    if (locked.rows[0]?.ok !== true) return
    try {
      const known = await client.query<{ state: string }>('SELECT state FROM instances WHERE id = $1', [
        instance,
      ])
      const state = known.rows[0]?.state
      if (state !== 'adopted' && state !== 'closed' && existsSync(directory)) {
        const shipment = new Shipment({ ...data, directory, instanceId: instance, growing: false, log })
        await shipment.resume(client)
        while (await shipment.shipNext(client));
        const orphans = await shipment.adopt(client)
        shipment.close()
        post({ type: 'adopted', instance, orphans })
      }
      rmSync(directory, { recursive: true, force: true })
    } finally {
      await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [instance]).catch(() => {})
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

async function register(client: Client, data: ShipperData): Promise<void> {
  await client.query(
    `INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) VALUES ($1, $2, $3, now(), now(), 'live')
     ON CONFLICT (id) DO NOTHING`,
    [data.instanceId, hostname(), data.pid],
  )
  await heartbeat(client, data.instanceId)
}

async function heartbeat(client: Client, instanceId: string): Promise<void> {
  const beat = await client.query(
    `UPDATE instances SET heartbeat_at = now() WHERE id = $1 AND state = 'live'`,
    [instanceId],
  )
  if (beat.rowCount !== 1)
    throw new FencedError(`instance ${instanceId} was taken for dead and adopted by another process`)
}

async function isSilent(client: Client, instanceId: string, deadMs: number): Promise<boolean> {
  const found = await client.query<{ silent: boolean }>(
    `SELECT heartbeat_at < now() - make_interval(secs => $2) AS silent FROM instances WHERE id = $1`,
    [instanceId, deadMs / 1000],
  )
  return found.rows[0]?.silent ?? true
}
