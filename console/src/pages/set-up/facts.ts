import { queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { ownName } from '../../parts/own-mark.tsx'

/** All that the steps are read from, in one go. */
export const factsQuery = queryOptions({
  queryKey: ['set-up'],
  refetchInterval: every(5_000),
  async queryFn({ signal }) {
    const many = { params: { query: { limit: 100 } as never }, signal }
    const [channels, groups, tenants, keys, models, rows] = await Promise.all([
      ask(api.GET('/admin/v1/channels', many)),
      ask(api.GET('/admin/v1/groups', many)),
      ask(api.GET('/admin/v1/tenants', many)),
      ask(api.GET('/admin/v1/keys', many)),
      ask(api.GET('/admin/v1/models', { params: { query: { limit: 200 } }, signal })),
      ask(
        api.GET('/admin/v1/requests', {
          params: { query: { limit: 1, not_tenant: [ownName] } as never },
          signal,
        }),
      ),
    ])
    return {
      channels: channels.data,
      groups: groups.data.filter(({ name }) => name !== ownName),
      tenants: tenants.data.filter(({ name }) => name !== ownName),
      keys: keys.data.filter(({ tenant }) => tenant !== ownName),
      models: models.data,
      rows: rows.data,
    }
  },
})

export type Facts = Awaited<ReturnType<NonNullable<typeof factsQuery.queryFn>>>
