import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../db/database.ts'
import { protocolsWithState } from '../../protocols/index.ts'
import { dropAnswer, type ListedAnswer, listAnswers } from '../../state/kept/answer-list-queries.ts'
import { oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, momentAt, orderOf, pageOf, pageSchema, placeAt } from './list.ts'
import { requireOwn } from './permit.ts'
import { notFound } from './refusals.ts'
import { findTenant } from './tenant-queries.ts'

export interface AdminKeptContext {
  database: Pick<Database, 'reads'>
}

const formats: readonly string[] = protocolsWithState()

const keptAnswer = z
  .object({
    id: z
      .string()
      .describe('The id of the answer that the client received. It is only unique within its tenant.'),
    ...{ tenant_id: z.uuid(), key_id: z.uuid() },
    protocol: z.enum(formats),
    model: z.string(),
    previous_id: z.string().nullable().describe('The id of the answer that it continues.'),
    bytes: z.int(),
    created_at: z.iso.datetime(),
    expires_at: z.iso
      .datetime()
      .describe('When the answer expires. An answer that others continue is kept as long as any of them.'),
  })
  .meta({ id: 'AdminKeptAnswer' })
const keptList = pageSchema(keptAnswer).meta({ id: 'AdminKeptAnswerList' })
const tenantPath = z.object({ id: z.string().describe('The id or the name of the tenant.') })
const answerPath = tenantPath.extend({ answer: z.string() })

/** Answers that the gateway keeps for a tenant. Their content cannot be read here. */
export function adminKeptEndpoints({ database }: AdminKeptContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/tenants/{id}/kept-answers',
      area: 'jobs',
      tenants: 'own',
      summary: 'List the kept answers of a tenant, newest first, without their content',
      params: tenantPath,
      query: z.strictObject({
        ...listParameters(['-created_at']),
        protocol: oneOfWords(formats).optional(),
      }),
      answer: keptList,
      async handle({ actor, params, query: { limit, sort, cursor, protocol }, signal }) {
        const tenantId = await ownTenant(params.id, actor)
        const place = placeAt(sort, cursor)
        const after = place === undefined ? undefined : { createdAt: momentAt(place), id: place.id }
        const { descending } = orderOf(sort)
        const rows = await database.reads.ask(
          ({ db }) => listAnswers(db, { tenantId, protocol, after, descending, limit: limit + 1 }),
          { owner: 'admin', signal },
        )
        const page = pageOf(rows, { limit, sort }, ({ id, createdAt }) => ({
          value: createdAt.toISOString(),
          id,
        }))
        return { body: { ...page, data: page.data.map(answerJson) } }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/tenants/{id}/kept-answers/{answer}',
      area: 'jobs',
      tenants: 'own',
      summary: 'Delete a kept answer',
      description: 'Answers that continue it can no longer be continued themselves.',
      params: answerPath,
      answer: keptAnswer,
      async change({ actor, tx, params, audit }) {
        const tenantId = await ownTenant(params.id, actor)
        const gone = await dropAnswer(tx, tenantId, params.answer)
        if (gone === undefined) throw notFound('kept answer with this id')
        const { protocol, bytes } = gone
        await audit({
          action: 'kept_answer.delete',
          resource: 'kept_answer',
          id: gone.id,
          tenantId,
          before: { protocol, bytes },
          after: null,
        })
        return { body: answerJson(gone) }
      },
    }),
  ]

  async function ownTenant(named: string, actor: Actor): Promise<string> {
    const tenant = await database.reads.ask(({ db }) => findTenant(db, named), { owner: 'admin' })
    if (tenant === undefined) throw notFound('tenant with this id or name')
    requireOwn(actor, tenant.id, 'tenant with this id or name')
    return tenant.id
  }
}

function answerJson(answer: ListedAnswer): z.output<typeof keptAnswer> {
  const { id, tenantId, keyId, protocol, model, previousId, bytes, createdAt, expiresAt } = answer
  return {
    id,
    ...{ tenant_id: tenantId, key_id: keyId },
    protocol,
    model,
    previous_id: previousId,
    bytes,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
}
