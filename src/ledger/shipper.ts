import { existsSync, rmSync } from 'node:fs'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { Client } from 'pg'
import { type LogLevel, relayLog } from '../telemetry/relay-log.ts'
import { Adopter, markShipped } from './adopter.ts'
import type { Adoption } from './adoption.ts'
import type { AnswerPosition } from './answer-files.ts'
import { AnswerShipment } from './answer-shipment.ts'
import { type Backend, backendOf, endBackend } from './backend.ts'
import {
  type Durability,
  registerInstance,
  registration,
  retireSilent,
  sendHeartbeat,
  sessionName,
} from './instances.ts'
import type { JournalPosition } from './journal-reader.ts'
import { endLost } from './lost.ts'
import type { FromOwner } from './ownership.ts'
import { ShipCalls } from './ship-calls.ts'
import { PositionError, Shipment } from './shipment.ts'
import { endPredecessor, type LateFrames, type Predecessor, Succession, setAsideLate } from './succession.ts'

/**
 * Messages of the API process to its shipper thread. `everyone`: all other processes must ship too. `commit`: somebody waits
 * until Postgres has what stands in the journal; `position` answers it.
 */
export type ToShipper =
  | { type: 'ship'; token: number; everyone: boolean }
  | { type: 'commit' }
  | { type: 'end'; deadlineMs: number }
  | FromOwner

/**
 * Messages of the thread to its process. `shipped` answers `ship`: Postgres has all frames that were written before it.
 * `adopted` without an instance: what it ran, of which nobody has the journal. `away` and `back`: Postgres stopped answering, and answers again. `live` answers `check`. `gone`: the directory of the
 * journal is not there. `fenced`: another process has adopted the journal; begin one as `instanceId`, and answer with `tail`.
 * `carry`: frames of that journal which nobody has shipped. `decided`: all of it is read; `orphaned` run here.
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
  /** What a process holds is released after this silence. */
  instanceLostMs: number
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

/** Three in the time after which a silent process counts as dead, and at least one in this time. */
const heartbeatMsMax = 5_000
/** A process is called to ship while its heartbeat is younger. */
const calledMs = 3 * heartbeatMsMax
/** Between the deadline of the end and the end of the thread: for an answer of Postgres that is on its way. */
const graceMs = 500
const sweepMs = 5_000
const lateRetryMs = 5_000
const reconnectMs = { least: 100, most: 2_000 }
/** The bounds of the time that a statement may take. After it, the shipper gives up the connection and opens another. */
const answerMs = { least: 1_000, most: 300_000 }

if (parentPort !== null) void run(parentPort, workerData as ShipperData)

/**
 * The thread that ships journals to Postgres: its own process's journal, and the journals of dead processes on this disk.
 * While Postgres is away it waits, and loses nothing.
 */
async function run(port: MessagePort, begun: ShipperData): Promise<void> {
  /** It has another id and directory after this process was taken for dead. */
  let data = begun
  const post = (message: FromShipper) => port.postMessage(message)
  const log = relayLog((level, fields, message) => post({ type: 'log', level, message, fields }))
  let requestedShips: { token: number; everyone: boolean }[] = []
  /** Deadline of the end; undefined: the process goes on. As all times here, of performance.now(), which never jumps. */
  let endsBy: number | undefined
  let isCommitWanted = false
  let checks: number[] = []
  let isRestored = false
  let succession: Succession | undefined
  /** The former id of this process, until Postgres has all that its journal had. */
  let predecessor: Predecessor | undefined
  let wake = () => {}
  port.on('message', (message: ToShipper) => {
    switch (message.type) {
      case 'ship':
        requestedShips.push(message)
        break
      case 'commit':
        isCommitWanted = true
        break
      case 'end':
        endsBy = performance.now() + message.deadlineMs
        // A connection that hangs must not keep this thread from its last words.
        setTimeout(giveUp, message.deadlineMs + graceMs).unref()
        break
      case 'check':
        checks.push(message.token)
        break
      case 'restored':
        isRestored = true
        break
      case 'tail':
        data = { ...data, directory: message.directory }
        succession?.setTail(message)
        break
      case 'carried':
        if (predecessor !== undefined) predecessor.isCarried = true
        break
      case 'late':
        keepLate({ ...message, bytes: Buffer.from(message.bytes) })
        break
    }
    wake()
  })
  /** A disk that is full must not end this thread. */
  const keepLate = (frames: LateFrames) => {
    try {
      setAsideLate(data.root, log, frames)
    } catch (error) {
      log.error(
        { requests: frames.requests, error: String(error) },
        'late ends of requests cannot be set aside now; it is tried again',
      )
      setTimeout(() => keepLate(frames), lateRetryMs).unref()
    }
  }
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
  const partsOf = (data: ShipperData) => ({
    own: new Shipment({ ...data, growing: true, keepsOpen: data.durability === 'postgres', log }),
    answers: new AnswerShipment({ ...data, growing: true, log }),
    adopter: new Adopter({
      ...data,
      log,
      onAdopted: (instance, orphans) => post({ type: 'adopted', instance, orphans }),
      onChange: (adoption) => post({ type: 'adoption', adoption }),
    }),
    calls: new ShipCalls({
      instanceId: data.instanceId,
      waitMs: data.onQueryMs,
      deadMs: calledMs,
      onCall: () => wake(),
      onShipped: postShipped,
    }),
  })
  let { own, answers, adopter, calls } = partsOf(data)

  /** Postgres does not answer. */
  let away = false
  /** The backend of the previous connection, which must have ended before this thread continues. */
  let lostBackend: Backend | undefined
  // Short enough to reconnect before others take this process for dead. It doubles after each timeout.
  const queryTimeoutLeastMs = Math.max(answerMs.least, Math.ceil(data.instanceDeadMs / 3))
  let queryTimeoutMs = queryTimeoutLeastMs
  // After an outage of Postgres, all other processes get this time for a heartbeat, and journals on this disk are adopted.
  const retireMs = Math.max(10_000, 2 * data.instanceDeadMs)
  let retryMs: number = reconnectMs.least
  for (; ; retryMs = Math.min(retryMs * 2, reconnectMs.most)) {
    const client = new Client({
      connectionString: data.databaseUrl,
      connectionTimeoutMillis: 5_000,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      // A process that stands still in the middle of a transaction must not keep its locks.
      idle_in_transaction_session_timeout: queryTimeoutLeastMs,
      application_name: sessionName(data.instanceId),
    })
    // A lost connection also fails the running query, whose error is handled below.
    client.on('error', () => {})
    try {
      await client.connect()
      if (lostBackend !== undefined) await endBackend(client, lostBackend)
      lostBackend = await backendOf(client)
      if (succession !== undefined) await succeed(client, succession)
      await calls.listen(client)
      await client.query(registerInstance, registration(data))
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
        // As a new process, at once.
        succession = new Succession({
          ...data,
          position: own.position,
          open: own.open,
          log,
          begin: (instanceId) => post({ type: 'fenced', instanceId }),
          carry: (frames) => post({ type: 'carry', frames }),
        })
        continue
      }
      if (isMissing(error) && !existsSync(data.directory)) {
        post({ type: 'gone' })
        await sleep(retryMs)
        continue
      }
      if (!away) post({ type: 'away', message: String(error) })
      away = true
      if (String(error).includes('Query read timeout'))
        queryTimeoutMs = Math.min(queryTimeoutMs * 2, answerMs.most)
      if (endsBy !== undefined && performance.now() >= endsBy) {
        sayWhatStays()
        port.close()
        return
      }
      await sleep(endsBy === undefined ? retryMs : Math.min(retryMs, Math.max(0, endsBy - performance.now())))
    }
  }

  async function succeed(client: Client, succeeding: Succession): Promise<void> {
    const orphaned = await succeeding.run(client)
    const next = { ...data, instanceId: succeeding.instanceId }
    const parts = partsOf(next)
    await client.query(`SELECT set_config('application_name', $1, false)`, [sessionName(next.instanceId)])
    own.close()
    succession = undefined
    predecessor = { instanceId: data.instanceId, isCarried: false }
    data = next
    ;({ own, answers, adopter, calls } = parts)
    checks = []
    post({ type: 'decided', orphaned })
  }

  async function shipUntilEnd(client: Client): Promise<void> {
    const heartbeatMs = Math.min(heartbeatMsMax, data.instanceDeadMs / 3)
    let nextHeartbeat = performance.now() + heartbeatMs
    // After an outage of Postgres all heartbeats are old.
    let nextLost = performance.now() + data.instanceDeadMs
    let nextSweep = 0
    let nextRetirement = performance.now() + retireMs
    const sendHeartbeatWhenDue = async () => {
      if (checks.length === 0 && performance.now() < nextHeartbeat) return
      await heartbeat(client)
      nextHeartbeat = performance.now() + heartbeatMs
    }
    for (;;) {
      if (isRestored) own.restore()
      isRestored = false
      // The process has written everything before it posts `end`. A pass that began before may miss the last frames.
      const isLast = endsBy !== undefined
      isCommitWanted = false
      const mayEnd = predecessor?.isCarried === true ? predecessor.instanceId : undefined
      const answerable = [...requestedShips]
      const calling = calls.takeCalls()
      const end = own.end()
      while (own.isBefore(end) && (await shipOwn(client))) {
        if (endsBy !== undefined && performance.now() > endsBy) break
        // A long journal must keep neither the heartbeat nor the position waiting.
        post({ type: 'position', position: own.position })
        await sendHeartbeatWhenDue()
      }
      if (mayEnd !== undefined) {
        await endPredecessor(client, mayEnd)
        predecessor = undefined
      }
      if (away) post({ type: 'back' })
      away = false
      queryTimeoutMs = queryTimeoutLeastMs
      retryMs = reconnectMs.least
      post({ type: 'position', position: own.position })
      requestedShips = requestedShips.slice(answerable.length)
      const tokensOf = (everyone: boolean) =>
        answerable.filter((one) => one.everyone === everyone).map(({ token }) => token)
      postShipped(tokensOf(false))
      await calls.answer(client, calling)
      await calls.call(client, tokensOf(true))
      await own.deleteShipped(client, data.keepMs, data.keepBytesMax)
      // One batch of answers, or all at the end: rows come first.
      const hasMoreAnswers = await answers.ship(client, isLast ? (endsBy ?? 0) : 0)
      if (hasMoreAnswers) post({ type: 'answers', position: answers.position })
      if (isLast) return finishOwn(client)
      await sendHeartbeatWhenDue()
      const isAdopting = await adopter.step(client)
      if (performance.now() >= nextSweep) {
        await client.query('SELECT sweep_reservations()')
        nextSweep = performance.now() + sweepMs
      }
      // An adoption of our own has its lock on this connection, so it would not keep us from ending its process.
      if (performance.now() >= nextLost && !isAdopting) {
        await endLost(client, { ...data, log, onLost: (orphans) => post({ type: 'adopted', orphans }) })
        nextLost = performance.now() + sweepMs
      }
      if (performance.now() >= nextRetirement && !isAdopting) {
        await retireLost(client)
        nextRetirement = performance.now() + retireMs
      }
      const isIdle =
        [requestedShips, checks].every(({ length }) => length === 0) &&
        !isCommitWanted &&
        !calls.isCalled &&
        endsBy === undefined
      if (isIdle && !isAdopting && !hasMoreAnswers) await sleep(data.intervalMs)
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
    const asked = checks.length
    const state = await sendHeartbeat(client, data)
    if (state !== 'live')
      throw new FencedError(`instance ${data.instanceId} was taken for dead and adopted by another process`)
    for (const token of checks.splice(0, asked)) post({ type: 'live', token })
  }

  async function finishOwn(client: Client): Promise<void> {
    own.close()
    // Another process adopts the journal.
    if (own.openCount > 0 || own.isBefore(own.end()) || answers.hasMore) return sayWhatStays()
    await own.finish(client)
    // A process that starts later deletes the directory of one that has ended.
    if (data.keepMs > 0) markShipped(data.directory)
    else rmSync(data.directory, { recursive: true, force: true })
  }

  function giveUp(): void {
    sayWhatStays()
    setImmediate(() => process.exit())
  }

  function sayWhatStays(): void {
    own.close()
    const unshipped = own.unshipped()
    if (unshipped.rows + unshipped.running === 0) return
    log.error(
      { directory: data.directory, ...unshipped },
      'Postgres does not have all rows of this process: they stay in its journal, and the next process that finds it ships them',
    )
  }

  async function retireLost(client: Client): Promise<void> {
    for (const id of await retireSilent(client, data.instanceId, data.instanceLostMs)) {
      log.warn(
        { instance: id },
        'a process was not heard of for long and its journal is not here: what it held is released',
      )
    }
  }
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'
}
