import { existsSync, rmSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import type { AnswerPosition } from '../journal/answer-files.ts'
import type { JournalPosition } from '../journal/journal-reader.ts'
import { Backoff, pauseAfter } from '../runtime/backoff.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { Adopter, markShipped } from './adopter.ts'
import type { Adoption } from './adoption.ts'
import { AnswerShipment } from './answer-shipment.ts'
import { endLost } from './end-lost.ts'
import {
  type Durability,
  registerInstance,
  registration,
  retireSilent,
  sendHeartbeat,
  sessionName,
} from './instances.ts'
import type { FromOwner } from './ownership.ts'
import { ShipCalls } from './ship-calls.ts'
import { PositionError, Shipment } from './shipment.ts'
import { endPredecessor, type LateFrames, type Predecessor, Succession, setAsideLate } from './succession.ts'

/**
 * Messages of the API process to its shipper thread. `everyone`: all other processes must ship too. `commit`:
 * a request waits until Postgres has what is in the journal, which is reported by `position`.
 */
export type ToShipper =
  | { type: 'ship'; token: number; everyone: boolean }
  | { type: 'commit' }
  | { type: 'end'; deadlineMs: number }
  | FromOwner

/**
 * Messages of the thread to its process. `shipped` answers `ship`: Postgres has all frames that were written
 * before it. `adopted` without an instance: the orphans belong to a lost process whose journal no process
 * has. `away` and `back`: Postgres has stopped answering, or answers again. `live` answers `check`. `gone`:
 * the journal directory does not exist. `fenced`: another process has adopted the journal; start a new one as
 * `instanceId` and answer with `tail`. `carry`: frames of the adopted journal that were not shipped.
 * `decided`: that journal has been read to its end; the requests in `orphaned` are running here.
 */
export type FromShipper =
  | { type: 'shipped'; token: number }
  | { type: 'position'; position: JournalPosition }
  | { type: 'answers'; position: AnswerPosition }
  | { type: 'adopted'; instance?: string; orphans: readonly string[] }
  | { type: 'adoption'; adoption: Adoption }
  | { type: 'live'; token: number }
  | { type: 'gone' }
  | { type: 'fenced'; instanceId: string }
  | { type: 'carry'; frames: Uint8Array }
  | { type: 'decided'; orphaned: readonly string[] }
  | { type: 'away'; message: string }
  | { type: 'back' }
  | { type: 'log'; level: LogLevel; message: string; fields: object }

export interface ShipperData {
  root: string
  directory: string
  instanceId: string
  durability: Durability
  databaseUrl: string
  pid: number
  intervalMs: number
  batchBytes: number
  instanceDeadMs: number
  /** The reservations of a process are released after this time without a heartbeat. */
  instanceLostMs: number
  /** How long a caller of `shipNow` or `shipAll` waits. */
  onQueryMs: number
  /** How long, and up to how many bytes, shipped segments stay on disk. */
  keepMs: number
  keepBytesMax: number
}

/** Another process has taken this one for dead and adopted its journal. */
class FencedError extends Error {
  override readonly name = 'FencedError'
}

/**
 * There are three heartbeats in the time after which a silent process counts as dead, and at least one in
 * this time.
 */
const heartbeatMsMax = 5_000
/** A process is called to ship while its last heartbeat is younger than this. */
const calledMs = 3 * heartbeatMsMax
/** The time between the deadline and the end of the thread, for an answer of Postgres that is on its way. */
const graceMs = 500
const sweepMs = 5_000
const lateRetryMs = 5_000
const reconnectMs = { least: 100, most: 2_000 }
/**
 * The limits for the time that a statement can take. After it, the shipper closes the connection and opens
 * another. The time doubles after each timeout.
 */
const answerMs = { least: 1_000, most: 300_000 }

/** What is shipped under one id of the process. */
interface Parts {
  own: Shipment
  answers: AnswerShipment
  adopter: Adopter
  calls: ShipCalls
}

/**
 * The thread that ships journals to Postgres: that of its own process, and those of dead processes on this
 * disk. While Postgres is down, it waits and loses nothing.
 */
class Shipper {
  readonly #port: MessagePort
  readonly #clock: Clock
  readonly #log = relayLog((level, fields, message) => this.#post({ type: 'log', level, message, fields }))
  /** The id and directory in it change when this process is taken for dead. */
  #data: ShipperData
  #parts: Parts
  #requestedShips: { token: number; everyone: boolean }[] = []
  /**
   * The deadline of the shutdown; undefined while the process keeps running. Like all times here, a time of
   * `Clock.elapsed`.
   */
  #endsBy: number | undefined
  #isCommitWanted = false
  #checks: number[] = []
  #isRestored = false
  #succession: Succession | undefined
  /** The former id of this process, until the whole former journal is in Postgres. */
  #predecessor: Predecessor | undefined
  #wake = () => {}
  /** Whether Postgres has stopped answering. */
  #away = false
  /** The backend of the previous connection, which must have ended before this thread continues. */
  #lostBackend: PostgresBackend | undefined
  readonly #queryTimeoutLeastMs: number
  /** The number of consecutive statement timeouts. */
  #timeouts = 0
  readonly #pauses = new Backoff(reconnectMs)

  constructor(port: MessagePort, data: ShipperData, clock: Clock) {
    this.#port = port
    this.#clock = clock
    this.#data = data
    // Short enough to reconnect before other processes take this one for dead.
    this.#queryTimeoutLeastMs = Math.max(answerMs.least, Math.ceil(data.instanceDeadMs / 3))
    port.on('message', (message: ToShipper) => this.#receive(message))
    this.#parts = this.#partsOf(data)
  }

  /** Ships until the process ends. */
  async run(): Promise<void> {
    for (;;) {
      const client = this.#newClient()
      try {
        await this.#connect(client)
        await this.#shipUntilEnd(client)
        await client.end()
        this.#port.close()
        return
      } catch (error) {
        void client.end().catch(() => {})
        if (error instanceof FencedError) {
          // Reconnects at once, as a new process.
          this.#succession = this.#newSuccession()
          continue
        }
        if (isMissing(error) && !existsSync(this.#data.directory)) {
          this.#post({ type: 'gone' })
          await this.#sleep(this.#pauses.next())
          continue
        }
        if (!this.#away) this.#post({ type: 'away', message: String(error) })
        this.#away = true
        if (String(error).includes('Query read timeout')) this.#timeouts++
        const leftMs = this.#endsBy === undefined ? undefined : this.#endsBy - this.#clock.elapsed()
        if (leftMs !== undefined && leftMs <= 0) {
          this.#sayWhatStays()
          this.#port.close()
          return
        }
        await this.#sleep(Math.min(this.#pauses.next(), leftMs ?? Number.POSITIVE_INFINITY))
      }
    }
  }

  #post(message: FromShipper): void {
    this.#port.postMessage(message)
  }

  #receive(message: ToShipper): void {
    switch (message.type) {
      case 'ship':
        this.#requestedShips.push(message)
        break
      case 'commit':
        this.#isCommitWanted = true
        break
      case 'end':
        this.#endsBy = this.#clock.elapsed() + message.deadlineMs
        // A hanging connection must not keep this thread from its final messages.
        setTimeout(() => this.#giveUp(), message.deadlineMs + graceMs).unref()
        break
      case 'check':
        this.#checks.push(message.token)
        break
      case 'restored':
        this.#isRestored = true
        break
      case 'tail':
        this.#data = { ...this.#data, directory: message.directory }
        this.#succession?.setTail(message)
        break
      case 'carried':
        if (this.#predecessor !== undefined) this.#predecessor.isCarried = true
        break
      case 'late':
        this.#keepLate({ ...message, bytes: Buffer.from(message.bytes) })
        break
    }
    this.#wake()
  }

  /** A full disk must not end this thread. */
  #keepLate(frames: LateFrames): void {
    try {
      setAsideLate(this.#data.root, this.#clock, this.#log, frames)
    } catch (error) {
      this.#log.error(
        { requests: frames.requests, error: String(error) },
        'late ends of requests cannot be set aside now; this will be retried',
      )
      setTimeout(() => this.#keepLate(frames), lateRetryMs).unref()
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #postShipped(tokens: readonly number[]): void {
    for (const token of tokens) this.#post({ type: 'shipped', token })
  }

  #partsOf(data: ShipperData): Parts {
    const clock = this.#clock
    const log = this.#log
    return {
      own: new Shipment({ ...data, growing: true, keepsOpen: data.durability === 'postgres', clock, log }),
      answers: new AnswerShipment({ ...data, growing: true, clock, log }),
      adopter: new Adopter({
        ...data,
        clock,
        log,
        onAdopted: (instance, orphans) => this.#post({ type: 'adopted', instance, orphans }),
        onChange: (adoption) => this.#post({ type: 'adoption', adoption }),
      }),
      calls: new ShipCalls({
        instanceId: data.instanceId,
        waitMs: data.onQueryMs,
        deadMs: calledMs,
        clock,
        onCall: () => this.#wake(),
        onShipped: (tokens) => this.#postShipped(tokens),
      }),
    }
  }

  #newClient(): Client {
    const client = new Client({
      connectionString: this.#data.databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: pauseAfter(this.#timeouts + 1, {
        least: this.#queryTimeoutLeastMs,
        most: answerMs.most,
      }),
      keepAlive: true,
      // A process that is frozen in the middle of a transaction must not keep its locks.
      idle_in_transaction_session_timeout: this.#queryTimeoutLeastMs,
      application_name: sessionName(this.#data.instanceId),
    })
    // A lost connection also fails the running query, whose error is handled in `run`.
    client.on('error', () => {})
    return client
  }

  async #connect(client: Client): Promise<void> {
    await client.connect()
    if (this.#lostBackend !== undefined) await endBackend(client, this.#lostBackend)
    this.#lostBackend = await backendOf(client)
    if (this.#succession !== undefined) await this.#succeed(client, this.#succession)
    const { own, adopter, calls } = this.#parts
    await calls.listen(client)
    await client.query(registerInstance, registration(this.#data))
    await this.#heartbeat(client)
    await own.resume(client)
    adopter.reconnect()
  }

  #newSuccession(): Succession {
    const { own } = this.#parts
    return new Succession({
      ...this.#data,
      position: own.position,
      open: own.open,
      clock: this.#clock,
      log: this.#log,
      begin: (instanceId) => this.#post({ type: 'fenced', instanceId }),
      carry: (frames) => this.#post({ type: 'carry', frames }),
    })
  }

  async #succeed(client: Client, succeeding: Succession): Promise<void> {
    const orphaned = await succeeding.run(client)
    const next = { ...this.#data, instanceId: succeeding.instanceId }
    const parts = this.#partsOf(next)
    await client.query(`SELECT set_config('application_name', $1, false)`, [sessionName(next.instanceId)])
    this.#parts.own.close()
    this.#succession = undefined
    this.#predecessor = { instanceId: this.#data.instanceId, isCarried: false }
    this.#data = next
    this.#parts = parts
    this.#checks = []
    this.#post({ type: 'decided', orphaned })
  }

  async #shipUntilEnd(client: Client): Promise<void> {
    const { own, answers, adopter, calls } = this.#parts
    const { instanceDeadMs } = this.#data
    const heartbeatMs = Math.min(heartbeatMsMax, instanceDeadMs / 3)
    // After an outage of Postgres, this time lets all other processes send a heartbeat and lets journals on
    // this disk be adopted.
    const retireMs = Math.max(10_000, 2 * instanceDeadMs)
    let nextHeartbeat = this.#clock.elapsed() + heartbeatMs
    // After an outage of Postgres, all heartbeats are old.
    let nextLost = this.#clock.elapsed() + instanceDeadMs
    let nextSweep = 0
    let nextRetirement = this.#clock.elapsed() + retireMs
    const sendHeartbeatWhenDue = async () => {
      if (this.#checks.length === 0 && this.#clock.elapsed() < nextHeartbeat) return
      await this.#heartbeat(client)
      nextHeartbeat = this.#clock.elapsed() + heartbeatMs
    }
    for (;;) {
      if (this.#isRestored) own.restore()
      this.#isRestored = false
      // The process has written everything before it posts `end`. A pass that began earlier may miss the last
      // frames.
      const isLast = this.#endsBy !== undefined
      this.#isCommitWanted = false
      const mayEnd = this.#predecessor?.isCarried === true ? this.#predecessor.instanceId : undefined
      const answerable = [...this.#requestedShips]
      const calling = calls.takeCalls()
      const end = own.end()
      while (own.isBefore(end) && (await this.#shipOwn(client))) {
        if (this.#endsBy !== undefined && this.#clock.elapsed() > this.#endsBy) break
        // Neither the heartbeat nor the position may wait for a long journal.
        this.#post({ type: 'position', position: own.position })
        await sendHeartbeatWhenDue()
      }
      if (mayEnd !== undefined) {
        await endPredecessor(client, mayEnd)
        this.#predecessor = undefined
      }
      if (this.#away) this.#post({ type: 'back' })
      this.#away = false
      this.#timeouts = 0
      this.#pauses.reset()
      this.#post({ type: 'position', position: own.position })
      this.#requestedShips = this.#requestedShips.slice(answerable.length)
      const tokensOf = (everyone: boolean) =>
        answerable.filter((one) => one.everyone === everyone).map(({ token }) => token)
      this.#postShipped(tokensOf(false))
      await calls.answer(client, calling)
      await calls.call(client, tokensOf(true))
      await own.deleteShipped(client, this.#data.keepMs, this.#data.keepBytesMax)
      // One batch of answers, or all of them at the end, because rows have priority.
      const hasMoreAnswers = await answers.ship(client, isLast ? (this.#endsBy ?? 0) : 0)
      if (hasMoreAnswers) this.#post({ type: 'answers', position: answers.position })
      if (isLast) return this.#finishOwn(client)
      await sendHeartbeatWhenDue()
      const isAdopting = await adopter.step(client)
      if (this.#clock.elapsed() >= nextSweep) {
        await client.query('SELECT sweep_reservations()')
        nextSweep = this.#clock.elapsed() + sweepMs
      }
      // The lock of our own adoption is on this connection, so it would not stop us from ending the same
      // process.
      if (this.#clock.elapsed() >= nextLost && !isAdopting) {
        await endLost(client, {
          ...this.#data,
          log: this.#log,
          onLost: (orphans) => this.#post({ type: 'adopted', orphans }),
        })
        nextLost = this.#clock.elapsed() + sweepMs
      }
      if (this.#clock.elapsed() >= nextRetirement && !isAdopting) {
        await this.#retireLost(client)
        nextRetirement = this.#clock.elapsed() + retireMs
      }
      const isIdle =
        [this.#requestedShips, this.#checks].every(({ length }) => length === 0) &&
        !this.#isCommitWanted &&
        !calls.isCalled &&
        this.#endsBy === undefined
      if (isIdle && !isAdopting && !hasMoreAnswers) await this.#sleep(this.#data.intervalMs)
    }
  }

  async #shipOwn(client: Client): Promise<boolean> {
    try {
      return await this.#parts.own.shipNext(client)
    } catch (error) {
      if (!(error instanceof PositionError)) throw error
      await client.query('ROLLBACK')
      // Another process has adopted the journal, or Postgres has lost its last commits.
      await this.#heartbeat(client)
      await this.#parts.own.resume(client, true)
      return true
    }
  }

  async #heartbeat(client: Client): Promise<void> {
    const asked = this.#checks.length
    const state = await sendHeartbeat(client, this.#data)
    if (state !== 'live')
      throw new FencedError(
        `instance ${this.#data.instanceId} was taken for dead and adopted by another process`,
      )
    for (const token of this.#checks.splice(0, asked)) this.#post({ type: 'live', token })
  }

  async #finishOwn(client: Client): Promise<void> {
    const { own, answers } = this.#parts
    own.close()
    // Another process will adopt the journal.
    if (own.openCount > 0 || own.isBefore(own.end()) || answers.hasMore) return this.#sayWhatStays()
    await own.finish(client)
    // A process that starts later will delete this directory.
    if (this.#data.keepMs > 0) markShipped(this.#data.directory)
    else rmSync(this.#data.directory, { recursive: true, force: true })
  }

  #giveUp(): void {
    this.#sayWhatStays()
    setImmediate(() => process.exit())
  }

  #sayWhatStays(): void {
    const { own } = this.#parts
    own.close()
    const unshipped = own.unshipped()
    if (unshipped.rows + unshipped.running === 0) return
    this.#log.error(
      { directory: this.#data.directory, ...unshipped },
      'Postgres does not have all rows of this process: they stay in its journal, and the next process that finds it ships them',
    )
  }

  async #retireLost(client: Client): Promise<void> {
    for (const id of await retireSilent(client, this.#data.instanceId, this.#data.instanceLostMs)) {
      this.#log.warn(
        { instance: id },
        'a process has been silent for a long time and its journal is not on this disk: its reservations are released',
      )
    }
  }
}

if (parentPort !== null) void new Shipper(parentPort, workerData as ShipperData, systemClock).run()

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'
}

/**
 * A Postgres backend. It is identified by its start time as well, because Postgres can give its pid to
 * another backend.
 */
interface PostgresBackend {
  pid: number
  startedAt: string
}

async function backendOf(client: Client): Promise<PostgresBackend | undefined> {
  const found = await client.query<PostgresBackend>(
    `SELECT pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  return found.rows[0]
}

/**
 * Ends the backend of a lost connection before the shipper reads the journal's position. Otherwise a Postgres
 * that was paused, or did not notice the lost connection, could commit a batch after that read.
 */
async function endBackend(client: Client, { pid, startedAt }: PostgresBackend): Promise<void> {
  const found = await client.query<{ gone: boolean }>(
    `SELECT pg_terminate_backend(pid, $3) AS gone FROM pg_stat_activity
     WHERE pid = $1 AND backend_start = $2::timestamptz`,
    [pid, startedAt, terminateMs],
  )
  if (found.rows.some(({ gone }) => !gone)) throw new Error('a lost connection to Postgres has not ended yet')
}

/** Shorter than any query timeout. */
const terminateMs = 500
