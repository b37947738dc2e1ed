import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import type { Archive } from '../../usage/archive/archive.ts'
import { findAnywhere } from '../../usage/archive/find-anywhere.ts'
import { findEntries, findLogDetail } from '../../usage/log/detail-queries.ts'
import { namesFor } from '../../usage/log/names-queries.ts'
import { findBeside } from '../../usage/queries.ts'
import { attemptOfTenant, detailJson } from '../usage-json.ts'
import { usageDetail } from '../usage-row.ts'
import { asCurl } from './as-curl.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { logRow, logRowJson } from './log-row.ts'
import { askLogAs } from './log-walk.ts'
import { listedTenant, seesRouting } from './permit.ts'
import { notFound } from './refusals.ts'

export interface AdminRequestContext {
  database: Pick<Database, 'log'>
  archive: Archive
  bounds: { logQueryMs: number }
  /** `shipNow` ships the newest rows, so that they are found. It is limited in time and never rejects. */
  ledger: { shipNow(): Promise<unknown> }
  publicUrl: string | undefined
  /** Whether tenants can see channel names and attempts. */
  showsRouting: boolean
}

/** The path parameters that identify a request. */
export const requestParams = z.object({ id: z.string().describe('The `x-request-id` of the response.') })

const entry = z.object({
  id: z.uuid(),
  account_id: z.uuid(),
  created_at: z.iso.datetime(),
  kind: z.string(),
  amount_nano_usd: z.string().describe('Nano-USD as decimal digits; negative if money was taken.'),
  note: z.string().nullable(),
})

const credential = z
  .string()
  .nullable()
  .describe(
    "The first 8 hex digits of the SHA-256 of the channel's credential. Null if none was used or it is not known, and for members.",
  )

const { attempts } = usageDetail.shape

const logDetail = usageDetail
  .extend(logRow.shape)
  .extend({
    attempts: z.array(attempts.element.extend({ credential })).describe(attempts.description ?? ''),
    price_id: z.uuid().nullable(),
    entries: z.array(entry).describe('The entries that the request caused on the account.'),
    as_curl: z
      .object({
        command: z
          .string()
          .describe('A command for a POSIX shell, with `$TOLLGATE_KEY` in place of the key.'),
        differs: z
          .array(z.string())
          .describe('How the command differs from the request that the client sent.'),
      })
      .nullable()
      .describe('The request as a curl command. Null for a path that no model answers.'),
  })
  .meta({ id: 'LogDetail' })

/** Returns one row of the usage log with everything that is stored about it. */
export function adminRequestEndpoint(context: AdminRequestContext): AdminEndpoint {
  const { database, archive, bounds, ledger, publicUrl } = context
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/requests/{id}',
    area: 'log',
    tenants: 'own',
    summary: 'Get a request with its body, attempts and entries, and a command that sends it again',
    params: requestParams,
    answer: logDetail,
    async handle({ actor, params, signal }) {
      const id = requireRequestId(params.id)
      await ledger.shipNow()
      const ask = askLogAs(database, actor)
      const terms = { withinMs: bounds.logQueryMs, signal }
      const own = listedTenant(actor)
      const needs = {
        archive,
        recent: () => ask((sql) => findLogDetail(sql, id, own), terms),
        beside: (priceId: string | null) => ask((sql) => findBeside(sql, id, priceId), terms),
        signal,
      }
      const found = await findAnywhere(needs, id, own)
      if (found === undefined) throw noSuchRequest()
      const { row, detail, credentials } = found
      const entries = await ask((sql) => findEntries(sql, id), terms)
      const names = await ask((sql) => namesFor(sql, [row]), terms)
      const showsRouting = seesRouting(context, actor)
      const isMember = actor.tenantId !== null
      const { attempts, ...shown } = detailJson(
        isMember ? { ...detail, attempt_rows: detail.attempt_rows.map(attemptOfTenant) } : detail,
      )
      return {
        body: {
          ...shown,
          ...logRowJson(row, names, showsRouting),
          attempts: (showsRouting ? attempts : []).map((attempt, at) => ({
            ...attempt,
            credential: isMember ? null : (credentials[at] ?? null),
          })),
          price_id: row.price_id,
          entries: entries.map(({ created_at, amount_nano, ...rest }) => ({
            ...rest,
            created_at: created_at.toISOString(),
            amount_nano_usd: amount_nano,
          })),
          as_curl: asCurl({ ...row, payload: detail.payload }, publicUrl),
        },
      }
    },
  })
}

/** Throws `unknown_path` for a text that is not an id. */
export function requireRequestId(text: string): string {
  const id = text.toLowerCase()
  if (!uuid.test(id)) throw noSuchRequest()
  return id
}

export function noSuchRequest() {
  return notFound('request with this id in the usage log')
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
