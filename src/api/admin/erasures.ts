import { createHash } from 'node:crypto'
import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import { listErasures, readErasure } from '../../usage/erasure/erasure-queries.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { erasureJson, erasureOfRow, erasureShown } from './erasure-json.ts'
import { addErasure, cancelErasure, findErasure, tenantCalled } from './erasure-queries.ts'
import { cursorAt, listParameters, pageSchema, placeAt, uuidText } from './list.ts'
import { conflict, notFound } from './refusals.ts'

export interface AdminErasuresContext {
  database: Pick<Database, 'reads'>
}

const moment = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-11-01T00:00:00Z' })
const erasureRequest = z
  .strictObject({
    tenant: z
      .string(expected('the id or the name of a tenant'))
      .min(1)
      .max(256)
      .describe('The id or the name of the tenant.'),
    end_user: z
      .string()
      .min(1)
      .max(256)
      .nullish()
      .describe('One end user of the tenant, as in `end_user` of the usage log. Default: the whole tenant.'),
    what: z
      .enum(['content', 'rows'])
      .describe(
        '`content`: removes the content but keeps the rows. `rows`: also removes the rows; sums, balances and entries stay.',
      ),
    from: moment.nullish().describe('Only requests that arrived at this time or later. Default: all.'),
    to: moment.nullish().describe('Only requests that arrived before this time. Default and maximum: now.'),
    dry_run: z.boolean().default(false).describe('Whether to only count and change nothing.'),
  })
  .meta({ id: 'ErasureRequest' })

const params = z.object({ id: uuidText })

/** Jobs that remove the content or the rows of a tenant, or of one of its end users. */
export function erasuresEndpoints(context: AdminErasuresContext): AdminEndpoint[] {
  const { database } = context
  return [
    newErasureEndpoint(),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/erasures',
      area: 'data',
      summary: 'List erasures, newest first',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        sort: z.literal('-created_at').default('-created_at'),
        tenant_id: uuidText.optional(),
      }),
      answer: pageSchema(erasureShown).meta({ id: 'ErasureList' }),
      async handle({ query: { limit, cursor, sort, tenant_id: tenantId }, signal }) {
        const before = placeAt(sort, cursor)?.id
        const rows = await database.reads.ask(
          ({ sql }) => listErasures(sql, { before, tenantId, limit: limit + 1 }),
          { owner: 'admin', signal },
        )
        const data = rows.slice(0, limit)
        const last = rows.length > limit ? data.at(-1) : undefined
        return {
          body: {
            data: data.map(erasureJson),
            next_cursor: last === undefined ? null : cursorAt(sort, { value: null, id: last.id }),
          },
        }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/erasures/{id}',
      area: 'data',
      summary: 'Get an erasure with its progress and its report',
      params,
      answer: erasureShown,
      async handle({ params: { id }, signal }) {
        const row = await database.reads.ask(({ sql }) => readErasure(sql, id), { owner: 'admin', signal })
        if (row === undefined) throw notFound('such erasure')
        return { body: erasureJson(row) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/erasures/{id}/cancel',
      area: 'data',
      summary: 'Cancel an erasure',
      description: 'What has already been removed stays removed.',
      params,
      answer: erasureShown,
      async change({ tx, params: { id }, audit }) {
        const before = await findErasure(tx, id)
        if (before === undefined) throw notFound('such erasure')
        const row = await cancelErasure(tx, id)
        if (row === undefined)
          throw conflict(`The erasure has already ended with the state "${before.state}".`)
        const shown = erasureOfRow(row)
        await audit({
          action: 'erasure.cancel',
          resource: 'erasure',
          id,
          tenantId: row.tenantId,
          before: { ...erasureOfRow(before), end_user: null },
          after: shown,
        })
        return { body: shown }
      },
    }),
  ]
}

function newErasureEndpoint(): AdminEndpoint {
  return adminChange({
    method: 'POST',
    path: '/admin/v1/erasures',
    area: 'data',
    summary: 'Start to remove the content or the rows of a tenant or an end user',
    description:
      'A worker runs the job, which reports what it removed from where and what it could not reach. It waits for requests in the chosen period that are still running.',
    body: erasureRequest,
    answer: erasureShown,
    statuses: [202],
    async change({ tx, actor, body, audit }) {
      const tenant = await tenantCalled(tx, body.tenant)
      if (tenant === undefined) throw invalid('tenant', 'there is no such tenant')
      const from = body.from == null ? null : new Date(body.from)
      const to = body.to == null ? undefined : new Date(body.to)
      if (from !== null && from.getTime() >= (to?.getTime() ?? Date.now()))
        throw invalid('from', 'expected a time before `to` and in the past')
      const endUser = body.end_user ?? null
      const row = await addErasure(tx, {
        tenantId: tenant.id,
        endUser,
        endUserHash: endUser === null ? null : createHash('sha256').update(endUser).digest(),
        what: body.what,
        fromAt: from,
        toAt: to,
        dryRun: body.dry_run,
        actor: actor.name,
      })
      if (row === undefined) throw new Error('the job was not added')
      const shown = erasureOfRow(row)
      // The audit log is never erased, so it must not contain the name of the end user.
      const after = { ...shown, end_user: null }
      await audit({
        action: 'erasure.make',
        resource: 'erasure',
        id: row.id,
        name: tenant.name,
        tenantId: tenant.id,
        after,
      })
      return { status: 202, body: shown }
    },
  })
}
