import { createHash, randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import type { Balance, NewEntry } from '../../money/entries.ts'
import { bookEntry, type ListedEntry, listEntries } from '../../money/entry-queries.ts'
import { readBalance } from '../../money/money-queries.ts'
import { usd } from '../../money/price.ts'
import { redactText } from '../../redaction/redact.ts'
import type { Log } from '../../telemetry/log.ts'
import { moment, oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { bookedEntry, entryRequest, listedEntry, tenantBalance } from './entry.ts'
import { listParameters, momentAt, orderOf, pageOf, pageSchema, rowPlaceAt } from './list.ts'
import { notFound } from './refusals.ts'
import { yesOrNo } from './setting-schema.ts'
import { findTenant } from './tenant-queries.ts'

export interface AdminEntriesContext {
  database: Pick<Database, 'money' | 'reads'>
  log: Log
}

// Without the checks of list filters, because an invalid name is simply an unknown tenant.
const tenantParams = z.object({ id: z.string().describe('The id or the name of the tenant.') })

/** Endpoints with which operators book entries on tenants' accounts and read their balances. */
export function adminEntriesEndpoints(context: AdminEntriesContext): AdminEndpoint[] {
  const { database } = context
  return [
    newEntryEndpoint(context),
    entryListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      area: 'money',
      path: '/admin/v1/tenants/{id}/balance',
      tenants: 'own',
      summary: 'Get the balance of a tenant',
      params: tenantParams,
      answer: tenantBalance,
      async handle({ actor, params }) {
        const { name, ...balance } = await requireAccount(database, params.id, actor)
        return { body: balanceJson(name, balance) }
      },
    }),
  ]
}

function newEntryEndpoint({ log }: AdminEntriesContext): AdminEndpoint {
  return adminChange({
    method: 'POST',
    area: 'money',
    path: '/admin/v1/tenants/{id}/entries',
    summary: 'Book a top-up or an adjustment, once per id',
    description: 'Returns 201, or 200 if an identical entry was booked before.',
    params: tenantParams,
    body: entryRequest,
    answer: bookedEntry,
    statuses: [201, 200],
    knowsRepeats: true,
    async change({ tx, request, params, body, audit }) {
      const tenant = await findTenant(tx, params.id)
      if (tenant === undefined) throw noTenant(params.id)
      const { id: accountId, name } = tenant
      const { kind, amount_usd: amountNano, note = null } = body
      const id = body.id ?? entryIdOf(request, accountId)
      const entry: NewEntry = { id, accountId, kind, amountNano, note }
      const booking = await bookEntry(tx, entry)
      switch (booking.verdict) {
        case 'booked':
        case 'repeated': {
          const isNew = booking.verdict === 'booked'
          const shown = { ...entryJson(entry), created_at: booking.createdAt.toISOString() }
          if (isNew) {
            const balance_usd = usd(booking.balance.balanceNano)
            const line = { action: 'entry.book', resource: 'entry', id, name, tenantId: accountId }
            await audit({ ...line, after: { ...shown, balance_usd } })
            log.info({ tenant: name, entry: id, kind, usd: usd(amountNano) }, 'booked an entry')
          }
          return {
            status: isNew ? 201 : 200,
            body: { entry: shown, ...balanceJson(name, booking.balance) },
          }
        }
        case 'held':
          throw invalid(
            'amount_usd',
            `running requests hold $${usd(booking.balance.heldNano)} of the balance of $${usd(booking.balance.balanceNano)}; take at most the rest`,
          )
        case 'excessive':
          throw invalid('amount_usd', 'the balance of an account cannot exceed $1000000000')
        case 'conflict':
          throw taken(id, 'another entry')
        case 'taken':
          throw taken(id, 'the charge of a request')
        case 'unknown':
          throw noTenant(name)
      }
    },
  })
}

function entryListEndpoint({ database }: AdminEntriesContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    area: 'money',
    path: '/admin/v1/tenants/{id}/entries',
    tenants: 'own',
    summary: 'List the entries of a tenant',
    description: 'Charges of requests are only included if `charges` or `kind` is set accordingly.',
    params: tenantParams,
    query: z.strictObject({
      ...listParameters(['-created_at']),
      kind: oneOfWords(['opening', 'top_up', 'adjustment', 'charge']).optional(),
      charges: yesOrNo.default(false).describe('Whether to include the charges of requests.'),
      from: moment('first moment').optional(),
      to: moment('end').optional(),
    }),
    answer: pageSchema(listedEntry).meta({ id: 'EntryList' }),
    async handle({ actor, params, query: { limit, cursor, sort, ...filter }, signal }) {
      const { id: accountId } = await requireAccount(database, params.id, actor)
      const place = rowPlaceAt(sort, cursor)
      const after = place === undefined ? undefined : { createdAt: momentAt(place), id: place.id }
      const { descending } = orderOf(sort)
      const rows = await database.reads.ask(
        ({ db }) => listEntries(db, { ...filter, accountId, after, descending, limit: limit + 1 }),
        { owner: 'admin', signal },
      )
      const page = pageOf(rows, { limit, sort }, ({ id, createdAt }) => ({
        value: createdAt.toISOString(),
        id,
      }))
      return {
        body: {
          ...page,
          data: page.data.map((row) => ({ ...entryJson(row), created_at: row.createdAt.toISOString() })),
        },
      }
    },
  })
}

async function requireAccount({ money }: Pick<Database, 'money'>, called: string, actor: Actor) {
  const account = await money.ask(async ({ db }) => {
    const tenant = await findTenant(db, called)
    const balance = tenant === undefined ? undefined : await readBalance(db, tenant.id)
    return balance === undefined || tenant === undefined
      ? undefined
      : { id: tenant.id, name: tenant.name, ...balance }
  }, away)
  // A member receives the same error for another tenant as for an unknown one.
  if (account === undefined || (actor.tenantId !== null && actor.tenantId !== account.id))
    throw noTenant(called)
  return account
}

const away = {
  withinMs: 5_000,
  unavailable: 'The database is not responding at the moment. Try again shortly.',
}

/**
 * The id of an entry without an id in its body. It is the same for the same Idempotency-Key, so that a
 * repeated call is recognised.
 */
function entryIdOf(request: IncomingMessage, accountId: string): string {
  const header = request.headers['idempotency-key']
  if (header === undefined) return randomUUIDv7()
  const hex = createHash('sha256')
    .update(`${accountId} ${String(header)}`)
    .digest('hex')
  // Version 8: a custom format. https://www.rfc-editor.org/rfc/rfc9562#section-5.8
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function entryJson<Kind extends ListedEntry['kind']>({
  id,
  kind,
  amountNano,
  note,
}: Pick<ListedEntry, 'id' | 'amountNano' | 'note'> & { kind: Kind }) {
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

function taken(id: string, owner: string): GatewayError {
  return gatewayError('entry_id_taken', { id, owner }, { field: 'id' })
}

function noTenant(name: string): GatewayError {
  return notFound(`tenant "${redactText(name, [], 256)}"`)
}
