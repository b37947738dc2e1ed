import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import { unlimited } from '../../catalog/limit-columns.ts'
import type { Database } from '../../db/database.ts'
import { limitsFrom, ownLimitsFrom } from '../../db/settings/bounds.ts'
import { groupSettingsOfRequests } from '../../db/settings/group-settings.ts'
import { fromRow } from '../../db/settings/setting.ts'
import { isLimited, type LimitScope, type Limits } from '../../limits/limits.ts'
import type { BudgetState } from '../../money/budgets.ts'
import type { Balance } from '../../money/entries.ts'
import { readBalance, readBudgets } from '../../money/money-queries.ts'
import { budgetState, budgetStateJson, restJson, restOfMoney } from '../budget.ts'
import { type AdminEndpoint, adminEndpoint } from './endpoint.ts'
import { findGroup } from './group-queries.ts'
import { findKey } from './key-queries.ts'
import { keyParams } from './keys.ts'
import { requireOwn } from './permit.ts'
import { notFound } from './refusals.ts'
import { calledParams } from './setting-schema.ts'
import { findTenant } from './tenant-queries.ts'

export interface AdminKeyUsageContext {
  database: Pick<Database, 'reads'>
  limits: Pick<Limits, 'take'>
}

const limitState = z.object({
  of: z
    .enum(['key', 'parent', 'group', 'tenant'])
    .describe(
      'Whose limit it is. `key` also covers limits that the group sets for each key; `parent` is the parent of a sub-key.',
    ),
  limit: z.enum(['requests_per_minute', 'tokens_per_minute', 'concurrency']),
  allowed: z.int(),
  left: z
    .int()
    .nullable()
    .describe('Null for `concurrency`, because running requests are not counted for this response.'),
  full_in_ms: z
    .int()
    .nullable()
    .describe('The milliseconds until the limit is fully available again, if there are no more requests.'),
})

const keyUsage = z
  .object({
    limits: z.array(limitState),
    budgets: z
      .array(budgetState)
      .describe(
        'The budgets of the key, of its parent key, of its group and of its tenant, or those of the tenant alone, based on the charges that have reached Postgres.',
      ),
    balance: z
      .object(restOfMoney)
      .nullable()
      .describe('The balance of the tenant. Null if it is not limited.'),
  })
  .meta({ id: 'KeyUsage' })

/** Returns what is left of each limit, budget and balance of a tenant. */
export function tenantUsageEndpoint({ database, limits }: AdminKeyUsageContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/tenants/{id}/usage',
    area: 'money',
    tenants: 'own',
    summary: 'Get what is left of the limits, the budgets and the balance of a tenant',
    params: calledParams,
    answer: keyUsage,
    async handle({ actor, params, signal }) {
      const moment = new Date()
      const read = await database.reads.ask(
        async ({ db }) => {
          const tenant = await findTenant(db, params.id)
          if (tenant === undefined) return undefined
          const [balance, budgets] = await Promise.all([
            readBalance(db, tenant.id),
            readBudgets(db, { tenantId: tenant.id }, moment),
          ])
          return { tenant, balance, budgets }
        },
        { owner: 'admin', signal },
      )
      if (read === undefined) throw notFound('such tenant')
      const { tenant, balance, budgets } = read
      requireOwn(actor, tenant.id, 'such tenant')
      const states = await stateOf(limits, { kind: 'tenant', id: tenant.id, limits: limitsFrom(tenant) })
      return { body: usageJson(states, budgets, balance, moment) }
    },
  })
}

function usageJson(
  states: z.output<typeof limitState>[],
  budgets: readonly BudgetState[],
  balance: Balance | undefined,
  moment: Date,
): z.input<typeof keyUsage> {
  return {
    limits: states,
    budgets: budgets.map((budget) => budgetStateJson(budget, moment)),
    balance: balance?.limited === true ? restJson(balance.balanceNano, balance.heldNano) : null,
  }
}

/** Returns what is left of each limit, budget and balance that applies to a key. */
export function keyUsageEndpoint({ database, limits }: AdminKeyUsageContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/keys/{id}/usage',
    area: 'keys',
    tenants: 'own',
    summary: 'Get what is left of the limits and budgets of a key',
    params: keyParams,
    answer: keyUsage,
    async handle({ actor, params: { id }, signal }) {
      const moment = new Date()
      const read = await database.reads.ask(
        async ({ db }) => {
          const key = await findKey(db, id)
          if (key === undefined) return undefined
          const parentId = key.parentId ?? undefined
          const [parent, group, tenant, balance, budgets] = await Promise.all([
            parentId === undefined ? undefined : findKey(db, parentId),
            findGroup(db, key.groupId),
            findTenant(db, key.tenantId),
            readBalance(db, key.tenantId),
            readBudgets(db, { keyId: id, parentId, groupId: key.groupId, tenantId: key.tenantId }, moment),
          ])
          return { key, parent, group, tenant, balance, budgets }
        },
        { owner: 'admin', signal },
      )
      if (read?.group === undefined || read.tenant === undefined) throw notFound('such key')
      const { key, parent, group, tenant, balance, budgets } = read
      requireOwn(actor, key.tenantId, 'such key')
      const scopes: LimitScope[] = [
        {
          kind: 'key',
          id,
          limits: ownLimitsFrom(key) ?? (parent === undefined ? limitsFrom(group) : unlimited),
        },
        { kind: 'group', id: group.id, limits: fromRow(groupSettingsOfRequests, group).totalLimits },
        { kind: 'tenant', id: tenant.id, limits: limitsFrom(tenant) },
      ]
      // All sub-keys share these limits with their parent.
      const shared: LimitScope | undefined = parent && {
        kind: 'key',
        id: parent.id,
        limits: ownLimitsFrom(parent) ?? limitsFrom(group),
      }
      const states = await Promise.all([
        ...scopes.map((scope) => stateOf(limits, scope)),
        ...(shared === undefined ? [] : [stateOf(limits, shared, 'parent')]),
      ])
      return { body: usageJson(states.flat(), budgets, balance, moment) }
    },
  })
}

/**
 * Takes one request without tokens and gives it back at once, because the buckets only report what is left
 * when a request is taken.
 */
async function stateOf(
  limits: Pick<Limits, 'take'>,
  scope: LimitScope,
  of: z.output<typeof limitState>['of'] = scope.kind,
): Promise<z.output<typeof limitState>[]> {
  const { requestsPerMinute, tokensPerMinute, concurrency } = scope.limits
  const states: z.output<typeof limitState>[] = []
  const rates = { requestsPerMinute, tokensPerMinute, concurrency: undefined }
  if (isLimited(rates)) {
    const taken = await limits.take([{ ...scope, limits: rates }], 0, randomUUIDv7())
    if (taken.granted) taken.giveBack()
    const { requests, tokens } = taken
    // One of the requests was taken by this call.
    const own = taken.granted ? 1 : 0
    if (requestsPerMinute !== undefined)
      states.push({
        of,
        limit: 'requests_per_minute',
        allowed: requestsPerMinute,
        left: Math.min(requestsPerMinute, (requests?.remaining ?? 0) + own),
        full_in_ms: requests?.resetMs ?? null,
      })
    if (tokensPerMinute !== undefined)
      states.push({
        of,
        limit: 'tokens_per_minute',
        allowed: tokensPerMinute,
        left: tokens?.remaining ?? 0,
        full_in_ms: tokens?.resetMs ?? null,
      })
  }
  if (concurrency !== undefined)
    states.push({ of, limit: 'concurrency', allowed: concurrency, left: null, full_in_ms: null })
  return states
}
