import { randomUUIDv7 } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { journalDirectory } from '../journal/journal-directory.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { systemDisk } from '../runtime/disk.ts'
import { relayLog } from '../telemetry/relay-log.ts'
import { Outage } from './outage.ts'
import { newPostgresClient, ShipperConnection } from './shipper-connection.ts'
import { ShipperIdentity } from './shipper-identity.ts'
import type { FromShipper, ShipperData, ToShipper } from './shipper-messages.ts'
import {
  type After,
  type Mode,
  type ModeOf,
  Modes,
  type OpenMode,
  type Remains,
  remainsOf,
  Sleep,
} from './shipper-modes.ts'
import { FencedError, ShipperSession } from './shipper-session.ts'
import type { ShipperPort, ShipperThread } from './shipper-thread.ts'
import { type LateFrames, Succession, setAsideLate } from './succession.ts'

/** The time between the deadline and the end of the thread, for an answer of Postgres that is on its way. */
const graceMs = 500
const lateRetryMs = 5_000

/**
 * The thread that ships journals to Postgres: that of its own process, and those of dead processes on this
 * disk. While Postgres is down, it waits and loses nothing. `shipper-modes.ts` says what it can be doing.
 */
export class Shipper {
  readonly #thread: ShipperThread
  readonly #modes: Modes
  readonly #exit: () => void
  readonly #work: { [Name in OpenMode['name']]: (mode: ModeOf<Name>) => Promise<After<Name>> } = {
    connecting: async ({ identity, connection, succession }) => {
      await connection.open()
      if (succession === undefined) return { name: 'joining', identity, connection }
      return { name: 'succeeding', identity, connection, succession }
    },
    succeeding: async ({ identity, connection, succession }) => {
      const orphaned = await succession.run(connection.client)
      await connection.rename(succession.instanceId)
      const predecessor = { instanceId: identity.registrant.instanceId, isCarried: false }
      const next = new ShipperIdentity(this.#thread, succession.instanceId, predecessor)
      identity.own.close()
      this.#thread.inbox.checks = []
      this.#thread.post({ type: 'decided', orphaned })
      return { name: 'joining', identity: next, connection }
    },
    joining: async (mode) => this.#nextPass(await ShipperSession.join(this.#thread, mode)),
    shipping: async ({ session }) => {
      const hasMore = await session.pass()
      const { inbox, data } = this.#thread
      if (hasMore || inbox.hasNews) return this.#nextPass(session)
      return { name: 'idle', session, sleep: new Sleep(data.intervalMs) }
    },
    idle: async ({ session, sleep }) => {
      await sleep.over
      return this.#nextPass(session)
    },
    draining: async ({ session, endsBy }) => {
      await session.drain(endsBy)
      return { name: 'closed' }
    },
    'backing off': async ({ sleep, ...remains }) => {
      await sleep.over
      return this.#connecting(remains)
    },
  }

  /** `exit` ends the thread even if Postgres never answers. */
  constructor(
    port: ShipperPort,
    data: ShipperData,
    clock: Clock,
    exit: () => void,
    machine: Pick<ShipperThread, 'disk' | 'newPostgresClient' | 'newId'> = {
      disk: systemDisk,
      newPostgresClient,
      newId: randomUUIDv7,
    },
  ) {
    const post = (message: FromShipper) => port.postMessage(message)
    this.#thread = {
      ...machine,
      data,
      clock,
      log: relayLog((level, fields, message) => post({ type: 'log', level, message, fields })),
      inbox: { ships: [], checks: [], isRestored: false, endsBy: undefined, hasNews: false },
      outage: new Outage({
        isOn: data.isAway,
        instanceDeadMs: data.instanceDeadMs,
        onBegin: (message) => post({ type: 'away', message }),
        onEnd: () => post({ type: 'back' }),
      }),
      post,
      onCall: () => this.#ring(),
    }
    this.#exit = exit
    const identity = new ShipperIdentity(this.#thread, data.instanceId)
    const first = this.#connecting({ identity, lost: undefined, succession: undefined })
    this.#modes = new Modes(first, () => port.close())
    port.on('message', (message: ToShipper) => this.#receive(message))
  }

  /** Ships until the process ends. */
  async run(): Promise<void> {
    for (;;) {
      const { mode } = this.#modes
      if (mode.name === 'closed') return
      const work = this.#work[mode.name] as (mode: OpenMode) => Promise<Mode>
      const end = await work(mode).catch((error: unknown) => ({ error }))
      // Postgres did not answer before the deadline.
      if (this.#modes.mode !== mode) return
      this.#modes.enter('error' in end ? this.#afterFailure(mode, end.error) : end)
    }
  }

  #nextPass(session: ShipperSession): ModeOf<'shipping' | 'draining'> {
    const { endsBy } = this.#thread.inbox
    // The journal is not complete before it contains what is carried over.
    const isComplete = session.identity.predecessor?.isCarried !== false
    if (endsBy === undefined || !isComplete) return { name: 'shipping', session }
    return { name: 'draining', session, endsBy }
  }

  #connecting({ identity, lost, succession }: Remains): ModeOf<'connecting'> {
    const { data, outage, newPostgresClient } = this.#thread
    const connection = new ShipperConnection({
      databaseUrl: data.databaseUrl,
      instanceId: identity.registrant.instanceId,
      queryTimeoutMs: outage.queryTimeoutMs,
      idleInTransactionMs: outage.queryTimeoutLeastMs,
      lost,
      newPostgresClient,
    })
    return { name: 'connecting', identity, connection, succession }
  }

  #afterFailure(mode: OpenMode, error: unknown): ModeOf<'connecting' | 'backing off' | 'closed'> {
    const remains = remainsOf(mode)
    const { identity, succession } = remains
    // Reconnects at once, as a new process.
    if (error instanceof FencedError)
      return this.#connecting({ ...remains, succession: this.#successionOf(identity) })
    const { data, disk, clock, inbox, outage, post } = this.#thread
    const directory = journalDirectory(data.root, succession?.instanceId ?? identity.registrant.instanceId)
    if (isMissing(error) && !disk.existsSync(directory)) post({ type: 'gone' })
    else outage.note(error)
    const leftMs = (inbox.endsBy ?? Number.POSITIVE_INFINITY) - clock.elapsed()
    if (leftMs > 0)
      return { name: 'backing off', ...remains, sleep: new Sleep(Math.min(outage.nextPauseMs(), leftMs)) }
    identity.reportUnshipped()
    return { name: 'closed' }
  }

  #successionOf({ registrant, own }: ShipperIdentity): Succession {
    const { data, disk, clock, log, post, newId } = this.#thread
    return new Succession({
      ...data,
      ...registrant,
      newInstanceId: newId(),
      position: own.position,
      open: own.open,
      disk,
      clock,
      log,
      begin: (instanceId) => post({ type: 'fenced', instanceId }),
      carry: (frames) => post({ type: 'carry', frames }),
    })
  }

  #receive(message: ToShipper): void {
    const { inbox, clock } = this.#thread
    switch (message.type) {
      case 'ship':
        inbox.ships = [...inbox.ships, message]
        break
      case 'commit':
        break
      case 'end':
        inbox.endsBy = clock.elapsed() + message.deadlineMs
        // A hanging connection must not keep this thread from its final messages.
        setTimeout(() => this.#giveUp(), message.deadlineMs + graceMs).unref()
        break
      case 'check':
        inbox.checks.push(message.token)
        break
      case 'restored':
        inbox.isRestored = true
        break
      case 'tail':
        this.#remains?.succession?.setTail(message)
        break
      case 'carried':
        this.#remains?.identity.noteCarried(message.instanceId)
        break
      case 'late':
        this.#keepLate({ ...message, bytes: Buffer.from(message.bytes) })
        break
    }
    this.#ring()
  }

  /** Undefined after the end. */
  get #remains(): Remains | undefined {
    const { mode } = this.#modes
    return mode.name === 'closed' ? undefined : remainsOf(mode)
  }

  #ring(): void {
    this.#thread.inbox.hasNews = true
    this.#modes.wake()
  }

  /** A full disk must not end this thread. */
  #keepLate(frames: LateFrames): void {
    const { data, disk, clock, log } = this.#thread
    try {
      setAsideLate(data.root, clock, log, frames, disk)
    } catch (error) {
      log.error(
        { requests: frames.requests, error: String(error) },
        'late ends of requests cannot be set aside now; this will be retried',
      )
      setTimeout(() => this.#keepLate(frames), lateRetryMs).unref()
    }
  }

  #giveUp(): void {
    const remains = this.#remains
    if (remains !== undefined) {
      remains.identity.reportUnshipped()
      this.#modes.enter({ name: 'closed' })
    }
    setImmediate(this.#exit)
  }
}

if (parentPort !== null)
  void new Shipper(parentPort, workerData as ShipperData, systemClock, () => process.exit()).run()

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'
}
