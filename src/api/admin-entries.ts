import { createHash, randomUUIDv7 } from 'node:crypto'
import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { isRecord } from '../canonical/json.ts'
import { nanoFromUsd } from '../catalog/usd.ts'
import type { Database } from '../db/database.ts'
import { readBody } from '../http/body.ts'
import { type Balance, bookEntry, type NewEntry } from '../ledger/entries.ts'
import { findAccount } from '../ledger/money-queries.ts'
import { usd } from '../ledger/price.ts'
import { redactText } from '../redaction/redact.ts'
import { asGatewayError } from '../stages/ending.ts'
import { formatAt } from '../stages/endpoints.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import { bearsAdminToken } from './admin-token.ts'

export interface AdminEntriesContext {
  database: Pick<Database, 'money'>
  adminToken: string
  log: Log
}

type Handler = (request: Request, response: Response) => Promise<void>

/**
 * What an operator does with tenants' money, with the admin token as bearer token. Errors have the shape of OpenAI's.
 * None of it is a row of the usage log; entries are their own record, and the log of the process has a line.
 */
export function adminEntries({ database, adminToken, log }: AdminEntriesContext) {
  return {
    /** `POST /admin/tenants/{name}/entries`: 201, or 200 when this very entry stood already. */
    book: answered(async (request, response) => {
      const wanted = await readEntry(request)
      const { id: accountId } = await requireAccount(request)
      const entry = { ...wanted, id: entryIdOf(request, accountId, wanted.id), accountId }
      const booking = await database.money.ask(
        ({ sql }) => bookEntry(sql, entry),
        withAdvice(`Repeat it with the id ${entry.id}: it is booked once`),
      )
      switch (booking.verdict) {
        case 'booked':
        case 'repeated': {
          if (booking.verdict === 'booked')
            log.info(
              { tenant: nameOf(request), entry: entry.id, kind: entry.kind, usd: usd(entry.amountNano) },
              'an entry was booked',
            )
          const created_at = booking.createdAt.toISOString()
          response.status(booking.verdict === 'booked' ? 201 : 200)
          response.json({
            entry: { ...entryJson(entry), created_at },
            ...balanceJson(nameOf(request), booking.balance),
          })
          return
        }
        case 'held':
          throw new GatewayError(
            'invalid_request',
            `amount_usd: running requests hold $${usd(booking.balance.heldNano)} of the balance of $${usd(booking.balance.balanceNano)}; take no more than what is beside that`,
            { field: 'amount_usd' },
          )
        case 'excessive':
          throw new GatewayError('invalid_request', 'amount_usd: no account holds more than $1000000000', {
            field: 'amount_usd',
          })
        case 'conflict':
          throw new GatewayError(
            'idempotency_mismatch',
            `The id ${entry.id} is that of another entry. Take a new one.`,
            { field: 'id' },
          )
        case 'taken':
          throw new GatewayError(
            'idempotency_mismatch',
            `The id ${entry.id} is that of a request, whose charge bears it. Take a new one.`,
            { field: 'id' },
          )
        case 'unknown':
          throw noTenant(nameOf(request))
      }
    }),

    /** `GET /admin/tenants/{name}/balance` */
    balance: answered(async (request, response) => {
      const { id: _, ...balance } = await requireAccount(request)
      response.json(balanceJson(nameOf(request), balance))
    }),
  }

  function answered(handle: Handler): Handler {
    return async (request, response) => {
      const requestId = randomUUIDv7()
      response.setHeader('x-request-id', requestId)
      response.setHeader('cache-control', 'no-store')
      try {
        if (!bearsAdminToken(request.headers.authorization, adminToken)) throw notAdmin()
        await handle(request, response)
      } catch (cause) {
        const error = asGatewayError(cause)
        if (error.fault !== 'client')
          requestLog(log, requestId)[error.kind === 'internal' ? 'error' : 'warn'](
            { cause: redactText(String(error.cause)) },
            error.message,
          )
        const { status, headers, body } = formatAt('/admin').client.encodeError(error, requestId)
        response.status(status).set(headers).json(body)
      }
    }
  }

  async function requireAccount(request: Request) {
    const name = nameOf(request)
    const account = isText(name)
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
const bodyBytesMax = 64 * 1024
const noteCharactersMax = 1_000

type Wanted = Omit<NewEntry, 'id' | 'accountId'> & { id: string | undefined }

async function readEntry(request: Request): Promise<Wanted> {
  const body = await readBody(request, bodyBytesMax)
  if (body === undefined) throw new GatewayError('invalid_request', 'The request did not arrive whole.')
  let value: unknown
  try {
    value = JSON.parse(body.bytes.toString('utf8'))
  } catch (cause) {
    throw new GatewayError('invalid_request', 'body: expected JSON, but it does not parse', {
      field: 'body',
      cause,
    })
  } finally {
    body.release()
  }
  if (!isRecord(value)) throw wrong('body', 'expected a JSON object')
  for (const name of Object.keys(value)) {
    if (!members.has(name))
      throw wrong(redactText(name.slice(0, 64)), `not known here; an entry has ${[...members].join(', ')}`)
  }
  const { id, kind, amount_usd, note = null } = value
  if (id !== undefined && (typeof id !== 'string' || !uuid.test(id))) throw wrong('id', 'expected a UUID')
  if (kind !== 'top_up' && kind !== 'adjustment') throw wrong('kind', 'expected "top_up" or "adjustment"')
  if (note !== null && (typeof note !== 'string' || note.length > noteCharactersMax || !isText(note)))
    throw wrong('note', `expected at most ${noteCharactersMax} characters of text`)
  return { id: id?.toLowerCase(), kind, amountNano: amountOf(amount_usd, kind), note }
}

const members = new Set(['id', 'kind', 'amount_usd', 'note'])
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Postgres keeps no NUL and no lone surrogate. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function amountOf(value: unknown, kind: NewEntry['kind']): bigint {
  const [, minus = '', digits = ''] = /^(-?)(.*)$/.exec(typeof value === 'string' ? value : '') ?? []
  const nano = nanoFromUsd(digits)
  if (nano === undefined)
    throw wrong('amount_usd', 'expected a decimal as a string, with at most 9 decimals, such as "5.00"')
  if (nano === 0n) throw wrong('amount_usd', 'expected an amount other than 0')
  if (minus === '') return nano
  if (kind === 'top_up') throw wrong('amount_usd', 'a top-up brings money; take some with an "adjustment"')
  return -nano
}

/** A repeat must have the same: what the body says, else what follows from the header, else nobody can repeat it. */
function entryIdOf(request: Request, accountId: string, id: string | undefined): string {
  if (id !== undefined) return id
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

function nameOf(request: Request): string {
  return String(request.params.name)
}

function noTenant(name: string): GatewayError {
  return new GatewayError('unknown_path', `There is no tenant "${redactText(name.slice(0, 256))}".`)
}

function notAdmin(): GatewayError {
  return new GatewayError(
    'unauthenticated',
    'This is for who has ADMIN_TOKEN: send it as "authorization: Bearer TOKEN".',
  )
}

function wrong(field: string, expectation: string): GatewayError {
  return new GatewayError('invalid_request', `${field}: ${expectation}`, { field })
}
