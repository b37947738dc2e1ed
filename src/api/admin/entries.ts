import { createHash, randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { GatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import { type Balance, bookEntry, type NewEntry } from '../../ledger/entries.ts'
import { findAccount } from '../../ledger/money-queries.ts'
import { usd } from '../../ledger/price.ts'
import { redactText } from '../../redaction/redact.ts'
import type { Log } from '../../telemetry/log.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { bookedEntry, entryRequest, isStorable, tenantBalance } from './entry.ts'

export interface AdminEntriesContext {
  database: Pick<Database, 'money'>
  log: Log
}

const params = z.object({ name: z.string().describe("The tenant's name.") })

/** Operators book entries on tenants' accounts, and read their balances. */
export function adminEntriesEndpoints({ database, log }: AdminEntriesContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'POST',
      area: 'money',
      path: '/admin/v1/tenants/{name}/entries',
      formerPath: '/admin/tenants/{name}/entries',
      summary: 'Book a top-up or an adjustment, once for each id',
      description: '201; 200 when the very same entry was booked before.',
      params,
      body: entryRequest,
      answer: bookedEntry,
      statuses: [201, 200],
      async handle({ request, params: { name }, body }) {
        const { id: accountId } = await requireAccount(name)
        const { kind, amount_usd: amountNano, note = null } = body
        const id = body.id ?? entryIdOf(request, accountId)
        const entry: NewEntry = { id, accountId, kind, amountNano, note }
        const booking = await database.money.ask(
          ({ sql }) => bookEntry(sql, entry),
          withAdvice(`Repeat it with the id ${id}: it is booked once`),
        )
        switch (booking.verdict) {
          case 'booked':
          case 'repeated': {
            const isNew = booking.verdict === 'booked'
            if (isNew)
              log.info({ tenant: name, entry: id, kind, usd: usd(amountNano) }, 'an entry was booked')
            const created_at = booking.createdAt.toISOString()
            return {
              status: isNew ? 201 : 200,
              body: { entry: { ...entryJson(entry), created_at }, ...balanceJson(name, booking.balance) },
            }
          }
          case 'held':
            throw invalid(
              'amount_usd',
              `running requests hold $${usd(booking.balance.heldNano)} of the balance of $${usd(booking.balance.balanceNano)}; take no more than what is beside that`,
            )
          case 'excessive':
            throw invalid('amount_usd', 'no account holds more than $1000000000')
          case 'conflict':
            throw taken(`The id ${id} is that of another entry. Take a new one.`)
          case 'taken':
            throw taken(`The id ${id} is that of a request, whose charge bears it. Take a new one.`)
          case 'unknown':
            throw noTenant(name)
        }
      },
    }),
    adminEndpoint({
      method: 'GET',
      area: 'money',
      path: '/admin/v1/tenants/{name}/balance',
      formerPath: '/admin/tenants/{name}/balance',
      summary: 'What a tenant has left',
      params,
      answer: tenantBalance,
      async handle({ params: { name } }) {
        const { id: _, ...balance } = await requireAccount(name)
        return { body: balanceJson(name, balance) }
      },
    }),
  ]

  async function requireAccount(name: string) {
    const account = isStorable(name)
      ? await database.money.ask(({ db }) => findAccount(db, name), withAdvice('Try again'))
      : undefined
    if (account === undefined) throw noTenant(name)
    return account
  }
}

const withAdvice = (advice: string) => ({
  withinMs: 5_000,
  unavailable: `The database does not answer just now. ${advice}.`,
})

/** The id of an entry that has none in its body: the same for the same Idempotency-Key, so that a repeat is known. */
function entryIdOf(request: IncomingMessage, accountId: string): string {
  const header = request.headers['idempotency-key']
  if (header === undefined) return randomUUIDv7()
  const hex = createHash('sha256')
    .update(`${accountId} ${String(header)}`)
    .digest('hex')
  // Version 8: made in a way of our own. https://www.rfc-editor.org/rfc/rfc9562#section-5.8
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function entryJson({ id, kind, amountNano, note }: NewEntry) {
  return { id, kind, amount_usd: usd(amountNano), amount_nano_usd: String(amountNano), note }
}

function balanceJson(tenant: string, { limited, balanceNano, heldNano }: Balance) {
  return {
    tenant,
    limited,
    balance_usd: usd(balanceNano),
    balance_nano_usd: String(balanceNano),
    held_usd: usd(heldNano),
    held_nano_usd: String(heldNano),
  }
}

function taken(message: string): GatewayError {
  return new GatewayError('idempotency_mismatch', message, { field: 'id' })
}

function noTenant(name: string): GatewayError {
  return new GatewayError('unknown_path', `There is no tenant "${redactText(name.slice(0, 256))}".`)
}
