import { existsSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { listJournals, ownerState } from './journal-directory.ts'
import { ShipCalls } from './ship-calls.ts'
import { FencedError, Shipment } from './shipment.ts'

/** What the API process tells its shipper thread. `everyone`: all other processes are to ship as well. */
export type ToShipper =
  | { type: 'ship'; token: number; everyone: boolean }
  | { type: 'end'; deadlineMs: number }

/** What the thread tells back. `shipped` answers `ship`: everything written before it is in Postgres. */
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
  /** How long whoever asked for shipping waits. */
  onQueryMs: number
}

const heartbeatMs = 5_000
const adoptMs = 5_000
/** Also how long other processes have to be heard of again after Postgres was away for long. */
const retireMs = 60_000
const reconnectMs = { least: 100, most: 2_000 }
/** A statement that is not answered for so long has lost its connection, and another is made. */
const answerMs = { least: 1_000, most: 300_000 }

if (parentPort !== null) void run(parentPort, workerData as ShipperData)

/**
 * The thread that carries journals into Postgres: its own process's all the time, and those of dead processes
 * on this disk when it finds them. Postgres away means waiting, never losing.
 */
async function run(port: MessagePort, data: ShipperData): Promise<void> {
  const tell = (message: FromShipper) => port.postMessage(message)
  const log = relayLog((level, fields, message) => tell({ type: 'log', level, message, fields }))
  const own = new Shipment({ ...data, growing: true, log })
  let asked: { token: number; everyone: boolean }[] = []
  /** On the clock of performance.now(), as all times here: that of the day may jump. */
  let ending: number | undefined
  let wake = () => {}
  port.on('message', (message: ToShipper) => {
    if (message.type === 'ship') asked.push(message)
    else ending = performance.now() + message.deadlineMs
    wake()
  })
  const nap = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const tellShipped = (tokens: readonly number[]) => {
    for (const token of tokens) tell({ type: 'shipped', token })
  }
  const calls = new ShipCalls({
    instanceId: data.instanceId,
    waitMs: data.onQueryMs,
    deadMs: heartbeatMs * 3,
    onCall: () => wake(),
    onShipped: tellShipped,
  })

  let away = false
  let lost: Session | undefined
  // Heard of again before others take this process for dead. What is only slow gets twice as long the next time.
  const patience = Math.max(answerMs.least, Math.ceil(data.instanceDeadMs / 3))
  let patienceMs = patience
  let wait: number = reconnectMs.least
  for (; ; wait = Math.min(wait * 2, reconnectMs.most)) {
    const client = new Client({
      connectionString: data.databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: patienceMs,
      keepAlive: true,
      application_name: 'tollgate shipper',
    })
    // A lost connection also fails the query under way, which is where it is dealt with.
    client.on('error', () => {})
    try {
      await client.connect()
      if (lost !== undefined) await endSession(client, lost)
      lost = await sessionOf(client)
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
        tell({ type: 'fenced', message: error.message })
        port.close()
        return
      }
      if (!away) tell({ type: 'away', message: String(error) })
      away = true
      if (String(error).includes('Query read timeout')) patienceMs = Math.min(patienceMs * 2, answerMs.most)
      if (ending !== undefined && performance.now() >= ending) {
        log.warn({}, 'Postgres was away at the end: the journal stays on disk for the next process')
        port.close()
        return
      }
      await nap(ending === undefined ? wait : Math.min(wait, Math.max(0, ending - performance.now())))
    }
  }

  async function shipUntilEnd(client: Client): Promise<void> {
    let nextHeartbeat = performance.now() + heartbeatMs
    let nextAdoption = 0
    let nextRetirement = performance.now() + retireMs
    const beatWhenDue = async () => {
      if (performance.now() < nextHeartbeat) return
      await heartbeat(client, data.instanceId)
      nextHeartbeat = performance.now() + heartbeatMs
    }
    for (;;) {
      // Whoever tells of the end has written everything: a pass that began before may miss what was written during it.
      const isLast = ending !== undefined
      const answering = [...asked]
      const called = calls.takeCalls()
      const end = own.end()
      while (own.isBefore(end) && (await own.shipNext(client))) {
        if (ending !== undefined && performance.now() > ending) break
        // Catching up may take longer than others wait before they take this process for dead.
        await beatWhenDue()
      }
      if (away) tell({ type: 'back' })
      away = false
      patienceMs = patience
      wait = reconnectMs.least
      asked = asked.slice(answering.length)
      const tokensOf = (everyone: boolean) =>
        answering.filter((one) => one.everyone === everyone).map(({ token }) => token)
      tellShipped(tokensOf(false))
      await calls.answer(client, called)
      await calls.call(client, tokensOf(true))
      const freed = await own.deleteShipped(client)
      if (freed > 0) tell({ type: 'freed', bytes: freed })
      if (isLast) return finishOwn(client)
      await beatWhenDue()
      if (performance.now() >= nextAdoption) {
        await adoptDead(client)
        await client.query('SELECT sweep_reservations()')
        nextAdoption = performance.now() + adoptMs
      }
      if (performance.now() >= nextRetirement) {
        await retireLost(client)
        nextRetirement = performance.now() + retireMs
      }
      if (asked.length === 0 && !calls.isCalled && ending === undefined) await nap(data.intervalMs)
    }
  }

  async function finishOwn(client: Client): Promise<void> {
    own.close()
    // What ran out of time, a request still open or frames not shipped, is left to adoption.
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
        tell({ type: 'adopted', instance, orphans })
      }
      rmSync(directory, { recursive: true, force: true })
    } finally {
      await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [instance]).catch(() => {})
    }
  }
}

/** A backend of Postgres; its pid alone may be another's by now. */
interface Session {
  pid: number
  startedAt: string
}

async function sessionOf(client: Client): Promise<Session | undefined> {
  const found = await client.query<Session>(
    `SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  return found.rows[0]
}

/**
 * Whatever a lost connection was about to commit is committed, or never will be: a Postgres that was stopped, or that
 * does not know that its client is gone, could still commit it behind the back of who asks where the journal stands.
 */
async function endSession(client: Client, { pid, startedAt }: Session): Promise<void> {
  const found = await client.query<{ gone: boolean }>(
    `SELECT pg_terminate_backend(pid, $3) AS gone FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, startedAt, terminateMs],
  )
  if (found.rows.some(({ gone }) => !gone)) throw new Error('a lost connection to Postgres has not ended yet')
}

/** Less than any statement may take. */
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
