/** What is needed of a connection. */
interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  on(
    event: 'notification',
    hear: (message: { channel: string; payload?: string | undefined }) => void,
  ): unknown
}

export interface ShipCallsOptions {
  instanceId: string
  /** How long those who ask wait for the others. */
  waitMs: number
  /** Processes that were silent for this long are not called. */
  deadMs: number
  /** Somebody calls us: ship, then `answer`. */
  onCall(): void
  /** Every process has shipped what it had written before the call with these tokens. */
  onShipped(tokens: readonly number[]): void
}

interface Call {
  tokens: readonly number[]
  /** On the clock of performance.now(). */
  at: number
  /** Undefined until they are known. An answer may come before that. */
  others: readonly string[] | undefined
  answered: Set<string>
}

const callChannel = 'tollgate_ship'
const answerChannel = (instanceId: string) => `tollgate_shipped_${instanceId}`

/**
 * How one process has all of them ship their journals, so that a client reads its last request whichever process it
 * asks: a notification that all hear, and answer once they have shipped.
 *
 * A process that does not answer is waited for once, and then not again until it answers again.
 */
export class ShipCalls {
  readonly #options: ShipCallsOptions
  readonly #calls = new Map<string, Call>()
  #silent = new Set<string>()
  #receivedCalls: string[] = []
  #next = 1

  constructor(options: ShipCallsOptions) {
    this.#options = options
  }

  /** Begin anew on this connection. Calls that waited on the one before come to nothing. */
  async listen(connection: Connection): Promise<void> {
    this.#calls.clear()
    this.#receivedCalls = []
    connection.on('notification', ({ channel, payload = '' }) => this.#onNotification(channel, payload))
    await connection.query(`LISTEN ${callChannel}`)
    await connection.query(`LISTEN "${answerChannel(this.#options.instanceId)}"`)
  }

  /** True: somebody waits for `answer`. */
  get isCalled(): boolean {
    return this.#receivedCalls.length > 0
  }

  /** Who has called so far: to be answered after shipping. */
  takeCalls(): readonly string[] {
    const received = this.#receivedCalls
    this.#receivedCalls = []
    return received
  }

  /** Have the others ship. `onShipped` is told when they have, unless one of them takes too long. */
  async call(connection: Connection, tokens: readonly number[]): Promise<void> {
    if (tokens.length === 0) return
    const { instanceId, deadMs, waitMs } = this.#options
    const id = `${instanceId} ${this.#next++}`
    const at = performance.now()
    for (const [older, call] of this.#calls) {
      // Whoever asked began to wait before the call was made: when it asks again, that must be long enough ago.
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

  /** What was written before these calls is shipped. */
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
