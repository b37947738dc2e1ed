import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import { may } from '../../access/permissions.ts'
import { addTenants, setLimited } from '../../access/queries.ts'
import { tenantEntry, tenantSettings } from '../../catalog/gateway-file.ts'
import { holdCharges, lockRows } from '../../catalog/queries.ts'
import type { Database } from '../../db/database.ts'
import { jsonOf, membersOf, toRow } from '../../db/settings/setting.ts'
import { settingsOfTenants } from '../../db/settings/tenant-settings.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { limitAccount } from '../../money/account-queries.ts'
import { usd } from '../../money/price.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { listParameters, orderOf, pageOf, pageSchema, rowPlaceAt } from './list.ts'
import { listedSpend, spendDays, spendFrom, spendJson } from './listed-spend.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'
import { listedTenant, permit, requireOwn } from './permit.ts'
import { conflict, notFound } from './refusals.ts'
import { merged, type Settings, settingBody } from './setting-body.ts'
import { budgetMs, calledParams, managedByShown, nameFilters, yesOrNo } from './setting-schema.ts'
import {
  changeTenant,
  findTenant,
  type ListedTenant,
  listTenants,
  lockTenant,
  type TenantRow,
} from './tenant-queries.ts'

export interface AdminTenantsContext extends ManagedContext {
  database: Pick<Database, 'reads'>
}

/**
 * Endpoints for tenants. Tenants are never deleted, because the usage log and the ledger still refer to them.
 */
export function tenantsEndpoints(context: AdminTenantsContext): AdminEndpoint[] {
  const { database } = context
  return [
    tenantListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/tenants/{id}',
      area: 'tenants',
      tenants: 'own',
      summary: 'Get a tenant',
      params: calledParams,
      answer: tenantShown,
      async handle({ actor, params: { id }, signal }) {
        const row = await database.reads.ask(({ db }) => findTenant(db, id), { owner: 'admin', signal })
        if (row === undefined) throw notFound('such tenant')
        requireOwn(actor, row.id, 'such tenant')
        const shown = tenantJson(row)
        return { body: shown, etag: etagOf(shown) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/tenants',
      area: 'tenants',
      summary: 'Create a tenant',
      description:
        'If `balance_usd` is set, even to 0, the tenant can only spend its balance. Create its keys at `/admin/v1/keys`.',
      body: settingBody(tenantSettings, { id: 'NewTenant', leaveOut: ['keys'], required: ['name'] }),
      statuses: [201],
      answer: tenantShown,
      async change({ tx, body, audit }) {
        const { name, balance, ...settings } = merged(tenantEntry, {}, body)
        await lockRows(tx)
        await requireFreeName(context, tx, name, undefined)
        const id = randomUUIDv7()
        const row = { id, name, ...toRow(settingsOfTenants, settings), managedBy: 'admin' as const }
        await addTenants(tx, [{ row, balance }])
        const shown = tenantJson(await requireTenant(tx, id))
        const after = balance === undefined ? shown : { ...shown, balance_usd: usd(balance) }
        await audit({ action: 'tenant.make', resource: 'tenant', id, name, tenantId: id, after })
        return { status: 201, body: shown, etag: etagOf(shown) }
      },
    }),
    tenantChangeEndpoint(context),
  ]
}

function tenantListEndpoint({ database }: AdminTenantsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/tenants',
    area: 'tenants',
    tenants: 'own',
    summary: 'List tenants',
    query: z.strictObject({
      ...listParameters(['name', 'created_at', 'spend', 'balance']),
      ...nameFilters,
      spend_days: spendDays,
      disabled: yesOrNo.optional(),
      limited: yesOrNo.optional(),
    }),
    answer: pageSchema(tenantListed).meta({ id: 'TenantList' }),
    async handle({ actor, query: { limit, cursor, sort, spend_days, ...filter }, signal }) {
      const order = orderOf(sort)
      if (order.by === 'balance') permit(actor, { area: 'money', verb: 'read', tenants: 'own' })
      const from = spendFrom(actor, spend_days, order.by)
      const wanted = {
        ...filter,
        spendFrom: from,
        id: listedTenant(actor),
        order,
        after: rowPlaceAt(sort, cursor),
        limit: limit + 1,
      }
      const rows = await database.reads.ask(({ db }) => listTenants(db, wanted), { owner: 'admin', signal })
      const page = pageOf(rows, { limit, sort }, (row) => ({ value: sortedBy(order.by, row), id: row.id }))
      const seesMoney = may(actor, 'money', 'read')
      const data = page.data.map((row) => ({
        ...tenantJson(row),
        balance_nano_usd: seesMoney ? row.balance : null,
        spend: spendJson(from !== undefined, row.spend),
      }))
      return { body: { ...page, data } }
    },
  })
}

function sortedBy(by: string, { name, balance, spend }: ListedTenant): string | null {
  const values: Record<string, string | null> = { name, balance, spend: spend?.costNano ?? '0' }
  return values[by] ?? null
}

function tenantChangeEndpoint(context: AdminTenantsContext): AdminEndpoint {
  return adminChange({
    method: 'PATCH',
    path: '/admin/v1/tenants/{id}',
    area: 'tenants',
    ifMatch: 'tenant',
    summary: 'Update a tenant',
    withinMs: budgetMs,
    description:
      'Absent settings stay unchanged; null restores the default. `balance_usd` limits an account that was not limited and becomes its balance; null removes the limit. The balance of a limited account is changed with entries.',
    params: calledParams,
    body: settingBody(tenantSettings, { id: 'TenantChange', leaveOut: ['keys'] }),
    answer: tenantShown,
    async change({ tx, params, body, requireMatch, audit }) {
      await lockRows(tx)
      // One of the budgets may be new; see holdCharges.
      if (body.budget !== undefined && body.budget !== null) await holdCharges(tx)
      const row = await requireTenant(tx, params.id)
      const { id } = row
      const before = tenantJson(row)
      requireMatch(etagOf(before))
      await refuseManaged(tx, context, row, { kind: 'tenant', name: row.name })
      const { name, balance, ...settings } = merged(tenantEntry, settingsIn(before), body)
      await requireFreeName(context, tx, name, id)
      await changeTenant(tx, id, { name, ...toRow(settingsOfTenants, settings, row) })
      if (body.balance_usd === null && row.limited) await setLimited(tx, id, false)
      if (balance !== undefined) {
        if (row.limited)
          throw conflict(
            `The balance of tenant "${row.name}" is already limited. Book an entry at /admin/v1/tenants/${id}/entries to change it.`,
            'balance_usd',
          )
        await limitAccount(tx, id, balance, new Date())
      }
      const shown = tenantJson(await requireTenant(tx, id))
      const after = balance === undefined ? shown : { ...shown, balance_usd: usd(balance) }
      await audit({ action: 'tenant.change', resource: 'tenant', id, name, tenantId: id, before, after })
      return { body: shown, etag: etagOf(shown) }
    },
  })
}

async function requireTenant(tx: TypedTransaction, called: string): Promise<TenantRow> {
  const row = await lockTenant(tx, called)
  if (row === undefined) throw notFound('such tenant')
  return row
}

/** Picks the settings from a tenant as shown by the API. */
function settingsIn(shown: z.output<typeof tenantShown>): Settings {
  const members: Settings = shown
  const names = ['name', ...Object.keys(settingsOfTenants)]
  return Object.fromEntries(names.map((name) => [name, members[name]]))
}

async function requireFreeName(
  context: AdminTenantsContext,
  tx: TypedTransaction,
  name: string,
  ownId: string | undefined,
): Promise<void> {
  const order = { by: 'name', descending: false }
  const [other] = await listTenants(tx, { name, order, after: undefined, limit: 1 })
  if (other === undefined || other.id === ownId) return
  await refuseManaged(tx, context, other, { kind: 'tenant', name })
  throw conflict(`There is already a tenant "${name}". Choose another name.`, 'name', 'name_taken')
}

export const tenantShown = z
  .object({
    id: z.uuid(),
    name: z.string(),
    limited: z
      .boolean()
      .describe(
        'Whether the tenant can only spend its balance. The balance itself, which each request changes, is at `/balance`.',
      ),
    ...membersOf(settingsOfTenants, 'shown'),
    disabled_at: z.iso.datetime().nullable(),
    managed_by: managedByShown,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Tenant' })

/** Only in the list: each request changes these. */
const tenantListed = tenantShown
  .extend({
    balance_nano_usd: z
      .string()
      .nullable()
      .describe(
        'The balance in nano-USD as decimal digits. Null if the tenant is not limited, or if the caller cannot read money.',
      ),
    spend: listedSpend,
  })
  .meta({ id: 'ListedTenant' })

function tenantJson(row: TenantRow): z.output<typeof tenantShown> {
  return {
    id: row.id,
    name: row.name,
    limited: row.limited,
    ...jsonOf(settingsOfTenants, row),
    disabled_at: row.disabledAt?.toISOString() ?? null,
    managed_by: row.managedBy,
    created_at: row.createdAt.toISOString(),
  }
}
