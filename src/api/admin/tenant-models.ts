import { z } from 'zod'
import { modelsFor } from '../../access/permitted.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { ModelLists } from '../../catalog/listed-models.ts'
import type { Database } from '../../db/database.ts'
import { mapInTurns } from '../in-turns.ts'
import { model, modelJson } from '../model-json.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { readOwnGroups } from './key-queries.ts'
import { requireOwn } from './permit.ts'
import { notFound } from './refusals.ts'
import { calledParams } from './setting-schema.ts'
import { findTenant } from './tenant-queries.ts'

export interface AdminTenantModelsContext {
  database: Pick<Database, 'reads'>
  catalog: Pick<Catalog, 'snapshot'>
  modelLists: { readonly lists: ModelLists }
}

const tenantModels = z
  .object({
    groups: z
      .array(
        z.object({
          id: z.uuid(),
          name: z.string(),
          models: z.array(model).describe('The models of the group, with its prices, by id.'),
        }),
      )
      .describe('By name. A member of the tenant may give a key one of these groups.'),
  })
  .meta({ id: 'TenantModels' })

/** What `/v1/models` lists for the keys of a tenant, without channels and upstream names. */
export function tenantModelsEndpoint({
  database,
  catalog,
  modelLists,
}: AdminTenantModelsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/models',
    area: 'tenants',
    tenants: 'own',
    summary: 'List the models that keys of a tenant can use',
    description:
      'For each group in which an admin has put a key of the tenant: its models as `GET /v1/models` has them, with the prices of the group. Revoked keys, keys that an admin has disabled and sub-keys do not count. A key that has `allowed_models` can use only those.',
    params: calledParams,
    answer: tenantModels,
    async handle({ actor, params: { id }, signal }) {
      const own = await database.reads.ask(
        async ({ db }) => {
          const tenant = await findTenant(db, id)
          if (tenant === undefined) throw notFound('such tenant')
          requireOwn(actor, tenant.id, 'such tenant')
          return await readOwnGroups(db, tenant.id)
        },
        { owner: 'admin', signal },
      )
      const { snapshot } = catalog
      const groups = []
      for (const { id, name } of own) {
        const group = snapshot.groups.get(id)
        const models =
          group === undefined
            ? []
            : await mapInTurns(
                modelsFor(snapshot, { groupId: id, allowedModels: undefined }, modelLists.lists),
                (each) => modelJson(each, each.id, group),
              )
        groups.push({ id, name, models })
      }
      return { body: { groups } }
    },
  })
}
