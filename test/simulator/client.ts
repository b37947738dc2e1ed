import type { Client, ClientConfig, Query } from 'pg'
import type { Process, Scheduler } from './scheduler.ts'
import { type Answer, Blocked, refusal, type Session, type Store } from './store.ts'

/** How the way to Postgres behaves. Chances are of each statement. */
export interface Wire {
  /** Nobody can connect, and what is sent is never answered. */
  isCut: boolean
  /** The connection is lost before the statement arrives. */
  losesBefore: number
  /** It is lost after the statement is executed, and before the answer arrives. */
  losesAfter: number
  /** It is lost, and the statement is executed some seconds later. */
  delays: number
  delayMsMax: number
}

interface Statement {
  text: string
  values: readonly unknown[]
  copies: readonly Buffer[]
  end(error: Error | undefined, answer: Answer): void
}

const noAnswer: Answer = { rows: [], rowCount: 0 }

/** A client of pg that sends its statements to the simulated store. */
export class SimulatedClient {
  readonly #scheduler: Scheduler
  readonly #store: Store
  readonly #wire: Wire
  readonly #owner: Process | undefined
  readonly #config: ClientConfig
  readonly connectionParameters: { query_timeout: number }
  #session: Session | undefined
  /** The statements that have no answer yet, in order: Postgres has the first one. */
  #queue: Statement[] = []
  #isLost = false

  constructor(scheduler: Scheduler, store: Store, wire: Wire, config: ClientConfig) {
    this.#scheduler = scheduler
    this.#store = store
    this.#wire = wire
    this.#owner = scheduler.current
    this.#config = config
    this.connectionParameters = { query_timeout: Number(config.query_timeout) }
  }

  /** The same object, as the shipper sees it, which uses no more than this class has. */
  get asClient(): Client {
    return this as unknown as Client
  }

  on(): this {
    return this
  }

  async connect(): Promise<void> {
    await this.#scheduler.sleep(this.#scheduler.anyMs(2), this.#owner)
    if (this.#wire.isCut) throw new Error('connect ECONNREFUSED')
    const session = this.#store.connect(String(this.#config.application_name), () => this.#onSessionEnd())
    this.#session = session
    if (this.#owner?.isAlive === false) this.#store.end(session)
  }

  /** Called when the process of this client has died: Postgres notices at once, or after a while. */
  abandon(noticesInMs: number): void {
    this.#isLost = true
    const session = this.#session
    if (session !== undefined) this.#scheduler.after(noticesInMs, undefined, () => this.#store.end(session))
  }

  async end(): Promise<void> {
    this.#lose(new Error('Connection terminated'))
    const session = this.#session
    if (session !== undefined)
      this.#scheduler.after(this.#scheduler.anyMs(5), undefined, () => this.#store.end(session))
  }

  query(what: string | Query, values: readonly unknown[] = []): Promise<Answer> | Query {
    if (typeof what !== 'string') return this.#copy(what)
    return new Promise((resolve, reject) => {
      const late = this.#scheduler.after(this.connectionParameters.query_timeout, this.#owner, () =>
        reject(new Error('Query read timeout')),
      )
      const end = (error: Error | undefined, answer: Answer) => {
        this.#scheduler.cancel(late)
        if (error === undefined) resolve(answer)
        else reject(error)
      }
      this.#send({ text: what, values, copies: [], end })
    })
  }

  /** Several statements with the inputs of their COPYs, as `runWithCopies` sends them. */
  #copy(query: Query): Query {
    const { text, callback, handleCopyInResponse } = query as unknown as CopyingQuery
    const copies: Buffer[] = []
    for (const _ of text.matchAll(/(^|; )COPY /g)) {
      const pieces: Buffer[] = []
      handleCopyInResponse.call(query, {
        sendCopyFromChunk: (piece) => pieces.push(Buffer.from(piece)),
        endCopyFrom: () => copies.push(Buffer.concat(pieces)),
      })
    }
    this.#send({ text, values: [], copies, end: (error) => callback.call(query, error) })
    return query
  }

  #send(statement: Statement): void {
    this.#scheduler.step()
    if (this.#isLost || this.#session === undefined) {
      this.#scheduler.after(0, this.#owner, () => statement.end(new Error('Connection terminated'), noAnswer))
      return
    }
    this.#queue.push(statement)
    if (this.#queue.length === 1) this.#next()
  }

  #next(): void {
    const [statement] = this.#queue
    const session = this.#session
    if (statement === undefined || session === undefined) return
    const { random } = this.#scheduler
    const chance = random.next()
    const { losesBefore, losesAfter, delays, delayMsMax, isCut } = this.#wire
    if (chance < losesBefore) {
      this.#breaks(session)
      return
    }
    const isDelayed = isCut || chance < losesBefore + delays
    const answers = !isDelayed && chance < 1 - losesAfter
    const onWayMs = this.#scheduler.anyMs(isDelayed ? delayMsMax : random.upTo(20) === 0 ? 50 : 1)
    this.#scheduler.after(onWayMs, undefined, () => this.#arrive(session, statement, answers))
    // A cut wire swallows, so the client waits for its timeout.
    if (isDelayed && !isCut) this.#scheduler.after(this.#scheduler.anyMs(1), this.#owner, () => this.#lose())
  }

  #arrive(session: Session, statement: Statement, answers: boolean): void {
    if (session.isOver) return
    const { text, values, copies } = statement
    let answer = noAnswer
    let error: Error | undefined
    this.#scheduler.note(session.pid, text)
    try {
      answer = this.#store.execute(session, text, values, copies)
    } catch (thrown) {
      if (thrown instanceof Blocked) {
        this.#wait(session, statement, answers)
        return
      }
      if (!(thrown instanceof Error && 'code' in thrown)) throw thrown
      error = thrown
    }
    this.#answer(session, statement, answers, error, answer)
  }

  #wait(session: Session, statement: Statement, answers: boolean): void {
    let isOver = false
    this.#store.whenFree(() => {
      if (!isOver) this.#arrive(session, statement, answers)
      isOver = true
    })
    if (session.lockTimeoutMs === 0) return
    this.#scheduler.after(session.lockTimeoutMs, undefined, () => {
      if (isOver || session.isOver) return
      isOver = true
      this.#answer(session, statement, answers, refusal('55P03', 'simulated: a lock timeout'), noAnswer)
    })
  }

  #answer(
    session: Session,
    statement: Statement,
    answers: boolean,
    error: Error | undefined,
    answer: Answer,
  ): void {
    this.#watchIdle(session)
    if (!answers) {
      this.#breaks(session)
      return
    }
    this.#scheduler.after(this.#scheduler.anyMs(1), this.#owner, () => {
      if (this.#queue[0] !== statement || this.#isLost) return
      this.#queue.shift()
      statement.end(error, answer)
      this.#next()
    })
  }

  /** The session of a process that is frozen in a transaction ends. */
  #watchIdle(session: Session): void {
    const { transaction } = session
    if (transaction === undefined) return
    this.#scheduler.after(Number(this.#config.idle_in_transaction_session_timeout), undefined, () => {
      if (session.transaction === transaction) this.#store.end(session)
    })
  }

  #breaks(session: Session): void {
    this.#scheduler.after(this.#scheduler.anyMs(1), this.#owner, () => this.#lose())
    this.#scheduler.after(this.#scheduler.anyMs(2_000), undefined, () => this.#store.end(session))
  }

  #onSessionEnd(): void {
    this.#scheduler.after(this.#scheduler.anyMs(1), this.#owner, () => this.#lose())
  }

  #lose(error = new Error('Connection terminated unexpectedly')): void {
    if (this.#isLost) return
    this.#isLost = true
    for (const { end } of this.#queue.splice(0)) end(error, noAnswer)
  }
}

interface CopyingQuery {
  text: string
  callback(error: Error | undefined): void
  handleCopyInResponse(connection: { sendCopyFromChunk(piece: Buffer): void; endCopyFrom(): void }): void
}
