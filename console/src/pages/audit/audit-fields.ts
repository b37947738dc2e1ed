import type { Area } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { momentsOf, rangeOf } from '../../format/range.ts'

/** The kinds of things that lines name. An address may name another one. */
export const resources = [
  'alert',
  'alert_episode',
  'api_token',
  'archive',
  'background_answer',
  'channel',
  'entry',
  'erasure',
  'file',
  'group',
  'image_job',
  'import',
  'invitation',
  'kept_answer',
  'key',
  'model',
  'probe',
  'session',
  'settings',
  'tenant',
  'user',
  'verdict',
  'view',
] as const

export const filterNames = ['action', 'resource', 'resource_id', 'tenant_id', 'user_id'] as const

/** The newest first, unless the address says otherwise. */
export function sortOf(search: Texts): 'created_at' | '-created_at' {
  return search.sort === 'created_at' ? 'created_at' : '-created_at'
}

/** `kept_answer` -> `kept answer`. */
export function resourceTitle(resource: string): string {
  return resource.replaceAll('_', ' ')
}

/** What the API is asked for. `now`: the end of a range that is "the last N minutes". */
export function queryOf(search: Texts, now: Date): Record<string, string> {
  return {
    ...Object.fromEntries(
      filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
    ),
    ...(momentsOf(rangeOf(search), now) ?? {}),
    ...(sortOf(search) === 'created_at' ? { sort: 'created_at' } : {}),
  }
}

export interface Destination {
  to: string
  /** Who may not read this has no way to it. */
  area: Area
  search?: Texts
}

const areas = { tenant: 'tenants', key: 'keys', group: 'keys', channel: 'catalog', model: 'catalog' } as const

/** The page of the thing that a line names; undefined: it has none, or is no more. */
export function placeOf({
  action,
  resource,
  resource_id: id,
  after,
}: {
  action: string
  resource: string
  resource_id: string
  after: unknown
}): Destination | undefined {
  if (/\.(delete|end)$/.test(action) && (after === null || after === undefined)) return undefined
  switch (resource) {
    case 'tenant':
    case 'key':
    case 'group':
    case 'channel':
    case 'model':
      return { to: `/console/${resource}s/${encodeURIComponent(id)}`, area: areas[resource] }
    case 'alert':
      return { to: `/console/alerts/${id}`, area: 'alerts', search: { tab: 'rules' } }
    case 'alert_episode':
      return { to: `/console/alerts/${id}`, area: 'alerts' }
    case 'image_job':
      return { to: `/console/jobs/${id}`, area: 'jobs' }
    case 'background_answer':
      return { to: `/console/jobs/${id}`, area: 'jobs', search: { kind: 'answers' } }
    case 'user':
    case 'invitation':
      return { to: '/console/users', area: 'users' }
    case 'settings':
      return { to: '/console/settings', area: 'settings' }
    case 'erasure':
      return { to: '/console/settings', area: 'data', search: { tab: 'erasures' } }
    case 'archive':
      return { to: '/console/settings', area: 'data', search: { tab: 'archive' } }
    default:
      return undefined
  }
}
