import { z } from 'zod'
import { listAudit } from '../../access/audit-queries.ts'
import type { Database } from '../../db/database.ts'
import { moment, text } from '../parameter.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { listParameters, orderOf, pageOf, pageSchema, rowPlaceAt, uuidText } from './list.ts'
import { listedTenant } from './permit.ts'

const auditEntry = z
  .object({
    id: z.uuid(),
    created_at: z.iso.datetime(),
    actor: z.object({
      kind: z.enum(['operator', 'user', 'token', 'key', 'file', 'system']),
      id: z.uuid().nullable(),
      name: z.string().describe('The name of the author at that time.'),
    }),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.uuid().nullable().describe('The `x-request-id` of the call.'),
    action: z.string().describe('The resource and the verb, such as `key.rotate`.'),
    resource: z.string(),
    resource_id: z.string(),
    resource_name: z.string().nullable().describe('The name of the resource at that time.'),
    tenant_id: z.uuid().nullable(),
    before: z
      .unknown()
      .describe('The resource before the change, without secrets. Null if it did not exist.'),
    after: z
      .unknown()
      .describe('The resource after the change, without secrets. Null if it no longer exists.'),
  })
  .meta({ id: 'AuditEntry' })

/** The audit log: every change by an admin or by gateway.yaml. Its lines never change. */
export function auditEndpoints({ database }: { database: Pick<Database, 'reads'> }): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/audit',
      area: 'audit',
      tenants: 'own',
      summary: 'List what was changed, by whom and from where',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        id: uuidText.optional().describe('Only the line with this id.'),
        action: text.optional(),
        resource: text.optional(),
        resource_id: text.optional(),
        tenant_id: uuidText.optional(),
        user_id: uuidText.optional(),
        from: moment('first moment').optional(),
        to: moment('end').optional(),
      }),
      answer: pageSchema(auditEntry).meta({ id: 'AuditList' }),
      async handle({ actor, query, signal }) {
        const { limit, cursor, sort, ...filter } = query
        const tenantId = listedTenant(actor, query.tenant_id)
        const rows = await database.reads.ask(
          ({ db }) =>
            listAudit(db, {
              ...filter,
              tenant_id: tenantId,
              after: rowPlaceAt(sort, cursor)?.id,
              descending: orderOf(sort).descending,
              limit: limit + 1,
            }),
          { owner: 'admin', signal },
        )
        const page = pageOf(rows, { limit, sort }, ({ id }) => ({ value: null, id }))
        return { body: { ...page, data: page.data.map(auditJson) } }
      },
    }),
  ]
}

type AuditRow = Awaited<ReturnType<typeof listAudit>>[number]

function auditJson(row: AuditRow): z.input<typeof auditEntry> {
  return {
    id: row.id,
    created_at: row.createdAt.toISOString(),
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    address: row.address,
    user_agent: row.userAgent,
    request_id: row.requestId,
    action: row.action,
    resource: row.resource,
    resource_id: row.resourceId,
    resource_name: row.resourceName,
    tenant_id: row.tenantId,
    before: row.before,
    after: row.after,
  }
}
