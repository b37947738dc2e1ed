import type { JsonRow } from '../../src/journal/read-tuples.ts'
import type { Scheduler } from './scheduler.ts'

export interface StoredInstance {
  state: string
  heartbeatAt: number
  keepsOpen: boolean
}

/** The session of a shipper in Postgres. */
export interface Session {
  pid: number
  name: string
  isOver: boolean
  /** The journals that it has locked, and how many times. */
  locks: Map<string, number>
  /** How to undo what its transaction has changed; undefined outside a transaction. */
  transaction: Change[] | undefined
  transactionLocks: string[]
  savepoint: number
  lockTimeoutMs: number
  /** The timeout ends with the transaction. */
  hasLocalTimeout: boolean
  onEnd(): void
}

interface Change {
  table: Map<string, unknown>
  key: string
  value: unknown
}

export interface Answer {
  rows: Record<string, unknown>[]
  rowCount: number
}

/** What the store does when it is sent a statement with this beginning. */
export interface Statement {
  start: string
  /** It changes nothing, and sees what was committed. */
  isRead?: boolean
  /** It changes no table, so it need not wait for a transaction that does. */
  isFree?: boolean
  run(store: Store, session: Session, values: readonly unknown[], text: string, inputs: Buffer[]): Answer
}

/** Postgres rejects a statement. */
export function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** What a statement must wait for. */
export class Blocked {}

/**
 * What the shipper relies on in Postgres: transactions that move rows and the position together, the instances with their states,
 * and locks of sessions. It answers the shipper's statements, and no others: a statement that it does not know fails the run.
 * One transaction writes at a time. What others read meanwhile is what was committed.
 */
export class Store {
  readonly #scheduler: Scheduler
  readonly #statements: readonly Statement[]
  readonly instances = new Map<string, StoredInstance>()
  readonly positions = new Map<string, number>()
  readonly openRequests = new Map<string, Buffer>()
  readonly rows = new Map<string, JsonRow>()
  readonly charges = new Map<string, bigint>()
  readonly payloads = new Map<string, true>()
  readonly answers = new Map<string, true>()
  readonly #sessions = new Set<Session>()
  readonly #sweeps = new Map<string, number>()
  /** Rows that were refused because their request already had one. */
  duplicates = 0
  #nextPid = 1
  #writer: Session | undefined
  /** Tasks that wait until the writer ends. */
  #waiting: (() => void)[] = []
  /** A fault: the position is committed, and the rows of the same transaction are not. */
  losesRows = false
  /** A fault: the rows are committed, and the position of the same transaction is not. */
  losesPositions = false
  /** Called after every commit that changed the state of an instance. */
  onState: (instance: string, before: StoredInstance | undefined, after: StoredInstance) => void = () => {}

  constructor(scheduler: Scheduler, statements: readonly Statement[]) {
    this.#scheduler = scheduler
    this.#statements = statements
  }

  connect(name: string, onEnd: () => void): Session {
    const session: Session = {
      pid: this.#nextPid++,
      name,
      isOver: false,
      locks: new Map(),
      transaction: undefined,
      transactionLocks: [],
      savepoint: 0,
      lockTimeoutMs: 0,
      hasLocalTimeout: false,
      onEnd,
    }
    this.#sessions.add(session)
    return session
  }

  /** Ends a session: its transaction is rolled back, and its locks are free. */
  end(session: Session): void {
    if (session.isOver) return
    this.#rollBack(session)
    session.isOver = true
    session.locks.clear()
    this.#sessions.delete(session)
    this.#wake()
    session.onEnd()
  }

  /** Calls `retry` when the transaction that writes has ended. */
  whenFree(retry: () => void): void {
    this.#waiting.push(retry)
  }

  /** Runs a statement; `copies` are the inputs of the COPYs in it. Throws Blocked if it must wait. */
  execute(session: Session, text: string, values: readonly unknown[], copies: readonly Buffer[]): Answer {
    const inputs = [...copies]
    let answer: Answer = { rows: [], rowCount: 0 }
    const statements = text.split(/;\s*/)
    const isFirst = session.transaction === undefined
    try {
      for (const statement of statements)
        answer = this.#one(session, statement.replace(/\s+/g, ' ').trim(), values, inputs)
    } catch (error) {
      // A message with several statements is blocked as a whole, before it has changed anything.
      if (error instanceof Blocked && isFirst) this.#rollBack(session)
      throw error
    }
    return answer
  }

  #one(session: Session, text: string, values: readonly unknown[], inputs: Buffer[]): Answer {
    const found = this.#statements.find(({ start }) => text.startsWith(start))
    if (found === undefined) throw new Error(`the simulated store does not know this statement: ${text}`)
    if (found.isRead === true)
      return this.#committed(session, () => found.run(this, session, values, text, inputs))
    if (found.isFree !== true) this.#write(session)
    try {
      return found.run(this, session, values, text, inputs)
    } catch (error) {
      if (session.transaction === undefined)
        for (const change of this.#changes.splice(0).reverse()) exchange(change)
      throw error
    } finally {
      if (session.transaction === undefined) this.#finish(session)
    }
  }

  /** Makes this session the one that writes. */
  #write(session: Session): void {
    if (this.#writer !== undefined && this.#writer !== session) throw new Blocked()
    this.#writer = session
    this.#changes = session.transaction ?? this.#changes
  }

  /** The changes of the statement that runs. */
  #changes: Change[] = []

  set<Value>(table: Map<string, Value>, key: string, value: Value | undefined): void {
    this.#changes.push({ table, key, value: table.get(key) })
    if (value === undefined) table.delete(key)
    else table.set(key, value)
  }

  begin(session: Session): void {
    session.transaction = []
  }

  commit(session: Session): void {
    const changes = session.transaction ?? []
    if (this.losesRows || this.losesPositions) this.#breakContract(changes)
    this.#endTransaction(session)
    this.#changes = changes
    this.#finish(session)
  }

  rollBackTo(session: Session, savepoint: number): void {
    for (const change of (session.transaction ?? []).splice(savepoint).reverse()) exchange(change)
  }

  rollBack(session: Session): void {
    this.#rollBack(session)
  }

  #rollBack(session: Session): void {
    this.rollBackTo(session, 0)
    this.#endTransaction(session)
    this.#changes = []
    this.#finish(session)
  }

  #finish(session: Session): void {
    const changes = this.#changes
    this.#changes = []
    if (this.#writer !== session) return
    this.#writer = undefined
    for (const { table, key, value } of changes) {
      if (table !== this.instances) continue
      const after = this.instances.get(key)
      const before = value as StoredInstance | undefined
      if (after !== undefined && after.state !== before?.state) this.onState(key, before, after)
    }
    this.#wake()
  }

  #wake(): void {
    for (const retry of this.#waiting.splice(0)) this.#scheduler.after(0, undefined, retry)
  }

  #endTransaction(session: Session): void {
    session.transaction = undefined
    for (const instance of session.transactionLocks.splice(0)) this.unlock(session, instance)
    if (session.hasLocalTimeout) session.lockTimeoutMs = 0
    session.hasLocalTimeout = false
  }

  /** Reads what is committed. */
  look<Result>(read: () => Result): Result {
    return this.#committed(undefined, read)
  }

  /** Reads without what others have not committed. */
  #committed<Result>(session: Session | undefined, read: () => Result): Result {
    const others = this.#writer === session ? [] : (this.#writer?.transaction ?? [])
    for (const change of others.toReversed()) exchange(change)
    try {
      return read()
    } finally {
      for (const change of others) exchange(change)
    }
  }

  #breakContract(changes: Change[]): void {
    const broken: Map<string, unknown>[] = this.losesRows
      ? [this.rows, this.charges]
      : this.losesPositions
        ? [this.positions]
        : []
    // Only shipments: an adoption has no position to lose.
    if (!changes.some(({ table }) => table === this.positions)) return
    for (const change of changes.toReversed()) if (broken.includes(change.table)) exchange(change)
  }

  tryLock(session: Session, instance: string): boolean {
    for (const other of this.#sessions)
      if (other !== session && (other.locks.get(instance) ?? 0) > 0) return false
    session.locks.set(instance, (session.locks.get(instance) ?? 0) + 1)
    return true
  }

  unlock(session: Session, instance: string): void {
    const times = (session.locks.get(instance) ?? 0) - 1
    if (times > 0) session.locks.set(instance, times)
    else session.locks.delete(instance)
    this.#wake()
  }

  sessionsOf(isMeant: (session: Session) => boolean): Session[] {
    return [...this.#sessions].filter(isMeant)
  }

  /** Milliseconds since the start of the world. */
  get now(): number {
    return this.#scheduler.now
  }

  claimSweep(name: string, apartMs: number): boolean {
    if (this.now < (this.#sweeps.get(name) ?? 0)) return false
    this.#sweeps.set(name, this.now + apartMs)
    return true
  }
}

function exchange(change: Change): void {
  const { table, key, value } = change
  change.value = table.get(key)
  if (value === undefined) table.delete(key)
  else table.set(key, value)
}
