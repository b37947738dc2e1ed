import type { Clock } from '../runtime/clock.ts'

/** The parts of a Postgres connection that ShipCalls uses. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  on(
    event: 'notification',
    listener: (message: { channel: string; payload?: string | undefined }) => void,
  ): unknown
}

export interface ShipCallsOptions {
  instanceId: string
  /** How long a client of `call` waits for the other processes. */
  waitMs: number
  /** A process whose last heartbeat is older than this is not called. */
  deadMs: number
  clock: Clock
  /** Called when another process requests a shipment. This process must ship and then call `answer`. */
  onCall(): void
  /**
   * Called when every process has shipped all frames that it had written before the call with these tokens.
   */
  onShipped(tokens: readonly number[]): void
}

interface Call {
  tokens: readonly number[]
  /** A time of `Clock.elapsed`. */
  at: number
  /** The called processes; undefined until Postgres has returned them. An answer can arrive before that. */
  others: readonly string[] | undefined
  answered: Set<string>
}

const callChannel = 'tollgate_ship'
const answerChannel = (instanceId: string) => `tollgate_shipped_${instanceId}`

/**
 * Asks all other processes to ship their journals, so that a client finds its latest request in the usage
 * log, whichever process handled it. The call is a notification. Each process ships and then answers with a
 * notification. A process that does not answer delays one call. Later calls do not wait for it until it
 * answers again.
 */
export class ShipCalls {
  readonly #options: ShipCallsOptions
  readonly #calls = new Map<string, Call>()
  /** Processes that did not answer a call and have not answered since. */
  #silent = new Set<string>()
  #receivedCalls: string[] = []
  #next = 1

  constructor(options: ShipCallsOptions) {
    this.#options = options
  }

  /** Listens on a new connection. Calls that were waiting on the previous connection are dropped. */
  async listen(connection: Connection): Promise<void> {
    this.#calls.clear()
    this.#receivedCalls = []
    connection.on('notification', ({ channel, payload = '' }) => this.#onNotification(channel, payload))
    await connection.query(`LISTEN ${callChannel}`)
    await connection.query(`LISTEN "${answerChannel(this.#options.instanceId)}"`)
  }

  /** The calls received so far. They must be answered after shipping. */
  takeCalls(): readonly string[] {
    const received = this.#receivedCalls
    this.#receivedCalls = []
    return received
  }

  /** Makes the other processes ship. `onShipped` is then called, unless one of them takes too long. */
  async call(connection: Connection, tokens: readonly number[]): Promise<void> {
    if (tokens.length === 0) return
    const { instanceId, deadMs, waitMs, clock } = this.#options
    const id = `${instanceId} ${this.#next++}`
    const at = clock.elapsed()
    for (const [older, call] of this.#calls) {
      // A client began to wait before its call was made, so half of the waiting time is enough to consider a
      // process silent.
      if (at - call.at < waitMs / 2) continue
      for (const silent of unansweredBy(call)) this.#silent.add(silent)
      this.#calls.delete(older)
    }
    const call: Call = { tokens, at, others: undefined, answered: new Set() }
    this.#calls.set(id, call)
    const found = await connection.query(
      `SELECT id, pg_notify($3, $4) FROM instances
       WHERE state = 'live' AND id <> $1 AND heartbeat_at > now() - make_interval(secs => $2)`,
      [instanceId, deadMs / 1000, callChannel, id],
    )
    const live = found.rows.map((row) => String(row.id))
    this.#silent = new Set(live.filter((other) => this.#silent.has(other)))
    call.others = live.filter((other) => !this.#silent.has(other))
    this.#endWhenAnswered(id, call)
  }

  /** Tells the callers that this process has shipped all frames that it had written before their calls. */
  async answer(connection: Connection, calls: readonly string[]): Promise<void> {
    for (const call of calls) {
      const [caller = ''] = call.split(' ')
      await connection.query('SELECT pg_notify($1, $2)', [
        answerChannel(caller),
        `${call} ${this.#options.instanceId}`,
      ])
    }
  }

  #onNotification(channel: string, payload: string): void {
    const [caller, number, answering = ''] = payload.split(' ')
    if (channel === callChannel) {
      if (caller === this.#options.instanceId) return
      this.#receivedCalls.push(payload)
      this.#options.onCall()
      return
    }
    this.#silent.delete(answering)
    const id = `${caller} ${number}`
    const call = this.#calls.get(id)
    if (call === undefined) return
    call.answered.add(answering)
    this.#endWhenAnswered(id, call)
  }

  #endWhenAnswered(id: string, call: Call): void {
    if (call.others === undefined || unansweredBy(call).length > 0) return
    this.#calls.delete(id)
    this.#options.onShipped(call.tokens)
  }
}

function unansweredBy({ others = [], answered }: Call): string[] {
  return others.filter((other) => !answered.has(other))
}
