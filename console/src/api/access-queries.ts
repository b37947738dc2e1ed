import { queryOptions } from '@tanstack/react-query'
import { api, ask, type Schema } from './client.ts'
import { every } from './every.ts'
import { askTagged } from './tagged.ts'

/**
 * Reads of tenants, keys and groups that several pages need. A change of one of them calls
 * `queryClient.invalidateQueries`.
 */
export type Tenant = Schema<'Tenant'>
export type ListedTenant = Schema<'ListedTenant'>
export type Key = Schema<'Key'>
export type ListedKey = Schema<'ListedKey'>
export type GroupRow = Schema<'Group'>
export type MadeKey = Schema<'MadeKey'>

export function tenantQuery(id: string) {
  return queryOptions({
    queryKey: ['tenants', 'one', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/tenants/{id}', { params: { path: { id } }, signal })),
  })
}

/** What is left of the limits, the budgets and the balance of a key or a tenant. */
export function usageQuery(of: 'key' | 'tenant', id: string) {
  return queryOptions({
    queryKey: [`${of}s`, 'usage', id],
    refetchInterval: every(15_000),
    queryFn: ({ signal }) =>
      of === 'key'
        ? ask(api.GET('/admin/v1/keys/{id}/usage', { params: { path: { id } }, signal }))
        : ask(api.GET('/admin/v1/tenants/{id}/usage', { params: { path: { id } }, signal })),
  })
}

export function balanceQuery(id: string) {
  return queryOptions({
    queryKey: ['tenants', 'balance', id],
    staleTime: 15_000,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/tenants/{id}/balance', { params: { path: { id } }, signal })),
  })
}

export function keyQuery(id: string) {
  return queryOptions({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => askTagged(api.GET('/admin/v1/keys/{id}', { params: { path: { id } }, signal })),
  })
}

export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ['groups', 'one', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/groups/{id}', { params: { path: { id } }, signal })),
  })
}

/** For fields that choose one: the first 200 by name. Where there are more, a text is taken as it is. */
export const tenantNamesQuery = queryOptions({
  queryKey: ['tenants', 'names'],
  staleTime: 60_000,
  queryFn: ({ signal }) =>
    ask(api.GET('/admin/v1/tenants', { params: { query: { limit: 200, sort: 'name' } }, signal })),
})

export const groupNamesQuery = queryOptions({
  queryKey: ['groups', 'names'],
  staleTime: 60_000,
  queryFn: ({ signal }) =>
    ask(api.GET('/admin/v1/groups', { params: { query: { limit: 200, sort: 'name' } }, signal })),
})

/** Models that the gateway knows, for fields that take some. Only where the caller may read the catalog. */
export const modelNamesQuery = queryOptions({
  queryKey: ['models', 'names'],
  staleTime: 60_000,
  queryFn: async ({ signal }) =>
    (await ask(api.GET('/admin/v1/models', { params: { query: { limit: 200 } }, signal }))).data.map(
      ({ id }) => id,
    ),
})

export const channelNamesQuery = queryOptions({
  queryKey: ['channels', 'names'],
  staleTime: 60_000,
  queryFn: async ({ signal }) =>
    (await ask(api.GET('/admin/v1/channels', { params: { query: { limit: 200 } }, signal }))).data.map(
      ({ name }) => name,
    ),
})

interface SumsOf {
  by: 'tenant' | 'key' | 'model'
  tenant?: string
  key?: string
  group?: string
}

/** What was asked and spent since `from`, the costliest first, at most 200 of them. */
function sumsSince({ by, tenant, key, group }: SumsOf, span: string, from: () => number) {
  return queryOptions({
    queryKey: ['summary', by, span, tenant, key, group],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary', {
          params: {
            query: {
              from: new Date(from()).toISOString(),
              group_by: by,
              sort: '-cost',
              limit: 200,
              ...ownerIn({ tenant, key, group }),
            },
          },
          signal,
        }),
      ),
  })
}

function ownerIn({ tenant, key, group }: { [Of in 'tenant' | 'key' | 'group']?: string | undefined }) {
  return {
    ...(tenant === undefined ? {} : { tenant_id: tenant }),
    ...(key === undefined ? {} : { key_id: key }),
    ...(group === undefined ? {} : { group_id: group }),
  }
}

/** The same of the last hours. */
export function sumsQuery({ hours, ...of }: SumsOf & { hours: number }) {
  return sumsSince(of, `${hours} hours`, () => Date.now() - hours * 3_600_000)
}

/** The same of the last days (UTC), today included, as the lists of tenants and keys count them. */
export function sumsOfDaysQuery({ days, ...of }: SumsOf & { days: number }) {
  return sumsSince(of, `${days} days`, () => firstOfDays(days))
}

/** What was spent on each of the last days (UTC), by the costliest models. */
export function daysQuery({ days, ...of }: Omit<SumsOf, 'by'> & { days: number }) {
  return queryOptions({
    queryKey: ['summary', 'by day', days, of.tenant, of.key],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const from = firstOfDays(days)
      const query = {
        from: new Date(from).toISOString(),
        step: 'day',
        by: 'model',
        sort: '-cost',
        top: 7,
      } as const
      const answer = await ask(
        api.GET('/admin/v1/summary/timeline', { params: { query: { ...query, ...ownerIn(of) } }, signal }),
      )
      return { at: Array.from({ length: days }, (_, day) => from + day * dayMs), series: answer.series }
    },
  })
}

/** The beginning of the first of the last days (UTC), today included, in ms. */
export function firstOfDays(days: number): number {
  return (Math.floor(Date.now() / dayMs) - days + 1) * dayMs
}

export const dayMs = 86_400_000

/** Days of which the pages show what was spent. */
export const spendDays = 30

/** The newest requests of a key, at most 200: for its last use, and for what used it in the last hour. */
export function usesQuery(key: string, hours: number, limit: number) {
  return queryOptions({
    queryKey: ['requests', 'of key', key, hours, limit],
    staleTime: 15_000,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/requests', {
          params: {
            query: {
              key_id: [key],
              limit,
              from: new Date(Date.now() - hours * 3_600_000).toISOString(),
            },
          },
          signal,
        }),
      ),
  })
}
