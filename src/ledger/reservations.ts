import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'

interface Wish {
  requestId: string
  accountId: string
  amountNano: bigint
  /** The request has given up waiting: what is granted to it now must be given back. */
  abandoned: boolean
  settle: (granted: boolean | GatewayError) => void
}

/** Most reservations asked for in one transaction; the rest wait for the next. */
const batchMax = 1_000

/**
 * Admission of requests whose money is limited. All that arrived while the last transaction was committing go
 * into the next one (group commit, no timer); each waits only for its own. What is granted is durable.
 */
export class Reservations {
  readonly #database: Pick<Database, 'sql' | 'renew'>
  readonly #instanceId: string
  readonly #waitMs: number
  #waiting: Wish[] = []
  #running = false

  constructor(options: { database: Pick<Database, 'sql' | 'renew'>; instanceId: string; waitMs: number }) {
    this.#database = options.database
    this.#instanceId = options.instanceId
    this.#waitMs = options.waitMs
  }

  /**
   * Hold `amountNano` of the account for the request: true when it is held, false when the account cannot bear it.
   * Throws `unavailable` when Postgres does not answer in time: the reservation may then exist all the same, so
   * the request's row must be written with its account as reserved.
   */
  reserve(requestId: string, accountId: string, amountNano: bigint): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const wish: Wish = {
        requestId,
        accountId,
        amountNano,
        abandoned: false,
        settle: (granted) => {
          clearTimeout(late)
          if (granted instanceof GatewayError) reject(granted)
          else resolve(granted)
        },
      }
      const late = setTimeout(() => {
        wish.abandoned = true
        this.#database.renew()
        wish.settle(databaseAway())
      }, this.#waitMs)
      this.#waiting.push(wish)
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax).filter((wish) => !wish.abandoned)
      if (batch.length === 0) continue
      try {
        const granted = await this.#ask(batch)
        for (const wish of batch) wish.settle(granted.has(wish.requestId))
        await this.#giveBack(batch.filter((wish) => wish.abandoned && granted.has(wish.requestId)))
      } catch (error) {
        for (const wish of batch) wish.settle(databaseAway(error))
      }
    }
    this.#running = false
  }

  async #giveBack(batch: Wish[]): Promise<void> {
    if (batch.length === 0) return
    await this.#database
      .sql`SELECT settle_accounts(${batch.map((wish) => wish.requestId)}::uuid[], '{}', '{}')`
  }

  async #ask(batch: Wish[]): Promise<Set<string>> {
    const rows = await this.#database.sql<{ id: string }[]>`
      SELECT reserve_accounts(
        ${this.#instanceId}::uuid,
        ${batch.map((wish) => wish.requestId)}::uuid[],
        ${batch.map((wish) => wish.accountId)}::uuid[],
        ${batch.map((wish) => wish.amountNano.toString())}::bigint[]
      ) AS id`
    return new Set(rows.map((row) => row.id))
  }
}

function databaseAway(cause?: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'This key has a spending limit and the database that guards it does not answer. Try again shortly.',
    { cause, retryAfterSeconds: 2 },
  )
}
