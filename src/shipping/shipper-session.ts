import type { Clock } from '../runtime/clock.ts'
import { endLost } from './end-lost.ts'
import { heartbeatMsMax, registerInstance, registration, retireSilent, sendHeartbeat } from './instances.ts'
import { PositionError } from './shipment.ts'
import type { ShipperConnection } from './shipper-connection.ts'
import type { ShipperIdentity } from './shipper-identity.ts'
import type { ShipperThread } from './shipper-thread.ts'
import { endPredecessor } from './succession.ts'

/** Another process has taken this one for dead and adopted its journal. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** A connection, and the id under which the process uses it. */
export interface Connected {
  readonly identity: ShipperIdentity
  readonly connection: ShipperConnection
}

const sweepMs = 5_000

/** The work of the shipper while one connection lasts under one id of its process. */
export class ShipperSession implements Connected {
  readonly #thread: ShipperThread
  readonly identity: ShipperIdentity
  readonly connection: ShipperConnection
  readonly #heartbeat: Periodic
  readonly #sweep: Periodic
  readonly #lost: Periodic
  readonly #retirement: Periodic

  /** Registers the process. Rejects with FencedError if other processes have taken it for dead. */
  static async join(thread: ShipperThread, joining: Connected): Promise<ShipperSession> {
    const { identity, connection } = joining
    const { client } = connection
    await identity.calls.listen(client)
    await client.query(registerInstance, registration(identity.registrant))
    await requireLive(thread, joining)
    await identity.own.resume(client)
    identity.adopter.reconnect()
    return new ShipperSession(thread, joining)
  }

  private constructor(thread: ShipperThread, { identity, connection }: Connected) {
    this.#thread = thread
    this.identity = identity
    this.connection = connection
    const { clock, data } = thread
    // There are three heartbeats in the time after which a silent process counts as dead.
    this.#heartbeat = new Periodic(clock, Math.min(heartbeatMsMax, data.instanceDeadMs / 3))
    this.#sweep = new Periodic(clock, sweepMs, 0)
    // After an outage of Postgres, all heartbeats are old.
    this.#lost = new Periodic(clock, sweepMs, data.instanceDeadMs)
    // After an outage of Postgres, this time lets all other processes send a heartbeat and lets journals on
    // this disk be adopted.
    this.#retirement = new Periodic(clock, Math.max(10_000, 2 * data.instanceDeadMs))
  }

  /** One pass. Resolves with true if there is more to do now. */
  async pass(): Promise<boolean> {
    const { client } = this.connection
    const hasMoreAnswers = await this.#ship(0)
    await this.#sendHeartbeat()
    const isAdopting = await this.identity.adopter.step(client)
    await this.#sweep.whenDue(() => client.query('SELECT sweep_reservations()'))
    // The lock of our own adoption is on this connection, so it would not stop us from ending the same
    // process.
    if (!isAdopting) {
      await this.#lost.whenDue(() => this.#endLost())
      await this.#retirement.whenDue(() => this.#retireLost())
    }
    return isAdopting || hasMoreAnswers
  }

  /**
   * The last pass, until this time of `Clock.elapsed`. It begins after the process has written everything.
   */
  async drain(endsBy: number): Promise<void> {
    await this.#ship(endsBy)
    await this.identity.finish(this.connection.client)
  }

  /**
   * Ships the rows that were written before this call, and then at least one batch of captured answers,
   * because rows have priority. Resolves with true if there may be more answers.
   */
  async #ship(answersUntil: number): Promise<boolean> {
    const { client } = this.connection
    const { own, answers, calls, predecessor } = this.identity
    const { data, inbox, outage, post } = this.#thread
    if (inbox.isRestored) own.restore()
    inbox.isRestored = false
    inbox.hasNews = false
    const mayEnd = predecessor?.isCarried === true ? predecessor.instanceId : undefined
    const { ships } = inbox
    const calling = calls.takeCalls()
    await this.#shipOwn()
    if (mayEnd !== undefined) {
      await endPredecessor(client, mayEnd)
      this.identity.predecessor = undefined
    }
    outage.end()
    post({ type: 'position', position: own.position })
    inbox.ships = inbox.ships.slice(ships.length)
    for (const { token, everyone } of ships) if (!everyone) post({ type: 'shipped', token })
    await calls.answer(client, calling)
    const called = ships.filter(({ everyone }) => everyone)
    await calls.call(
      client,
      called.map(({ token }) => token),
    )
    await own.deleteShipped(client, data.keepMs, data.keepBytesMax)
    const hasMoreAnswers = await answers.ship(client, answersUntil)
    if (hasMoreAnswers) post({ type: 'answers', position: answers.position })
    return hasMoreAnswers
  }

  /** Ships up to the present end of the journal, or until the deadline of the shutdown. */
  async #shipOwn(): Promise<void> {
    const { own } = this.identity
    const { clock, inbox, post } = this.#thread
    const end = own.end()
    while (own.isBefore(end) && (await this.#shipBatch())) {
      if (inbox.endsBy !== undefined && clock.elapsed() > inbox.endsBy) return
      // Neither the heartbeat nor the position may wait for a long journal.
      post({ type: 'position', position: own.position })
      await this.#sendHeartbeat()
    }
  }

  async #shipBatch(): Promise<boolean> {
    const { client } = this.connection
    const { own } = this.identity
    try {
      return await own.shipNext(client)
    } catch (error) {
      if (!(error instanceof PositionError)) throw error
      await client.query('ROLLBACK')
      // Another process has adopted the journal, or Postgres has lost its last commits.
      await requireLive(this.#thread, this)
      await own.resume(client, true)
      return true
    }
  }

  #sendHeartbeat(): Promise<void> {
    const isAsked = this.#thread.inbox.checks.length > 0
    return this.#heartbeat.whenDue(() => requireLive(this.#thread, this), isAsked)
  }

  #endLost(): Promise<void> {
    const { data, log, post } = this.#thread
    return endLost(this.connection.client, {
      instanceId: this.identity.registrant.instanceId,
      instanceDeadMs: data.instanceDeadMs,
      log,
      onLost: (orphans) => post({ type: 'adopted', orphans }),
    })
  }

  async #retireLost(): Promise<void> {
    const { instanceId } = this.identity.registrant
    const { data, log } = this.#thread
    for (const id of await retireSilent(this.connection.client, instanceId, data.instanceLostMs)) {
      log.warn(
        { instance: id },
        'a process has been silent for a long time and its journal is not on this disk: its reservations are released',
      )
    }
  }
}

/** Sends a heartbeat, which answers the checks that have arrived. Throws FencedError. */
async function requireLive(
  { inbox, post }: ShipperThread,
  { identity, connection }: Connected,
): Promise<void> {
  const { registrant } = identity
  const asked = inbox.checks.length
  if ((await sendHeartbeat(connection.client, registrant)) !== 'live')
    throw new FencedError(
      `instance ${registrant.instanceId} was taken for dead and adopted by another process`,
    )
  for (const token of inbox.checks.splice(0, asked)) post({ type: 'live', token })
}

/** Work that is repeated after a pause. */
class Periodic {
  readonly #clock: Clock
  readonly #pauseMs: number
  #dueAt: number

  constructor(clock: Clock, pauseMs: number, firstMs = pauseMs) {
    this.#clock = clock
    this.#pauseMs = pauseMs
    this.#dueAt = clock.elapsed() + firstMs
  }

  async whenDue(work: () => Promise<unknown>, isAsked = false): Promise<void> {
    if (!isAsked && this.#clock.elapsed() < this.#dueAt) return
    await work()
    this.#dueAt = this.#clock.elapsed() + this.#pauseMs
  }
}
