import type { Schema } from '../../api/client.ts'
import type { Texts } from '../../console-search.ts'
import { rangeOf } from '../../format/range.ts'
import {
  type BreakdownSort,
  type By,
  filterOf,
  inLogNames,
  type PageFilter,
  type SortKey,
  type SumsPart,
  type Terms,
} from './overview-query.ts'

type Row = Schema<'Summary'>['data'][number]

/** The parts of the table, as the address names them. */
export const tabs: readonly { tab: string; by: By; title: string; one: string; notForMembers?: true }[] = [
  { tab: 'models', by: 'model', title: 'Models', one: 'Model' },
  { tab: 'channels', by: 'channel', title: 'Channels', one: 'Channel', notForMembers: true },
  { tab: 'tenants', by: 'tenant', title: 'Tenants', one: 'Tenant', notForMembers: true },
  { tab: 'keys', by: 'key', title: 'Keys', one: 'Key' },
  { tab: 'groups', by: 'group', title: 'Groups', one: 'Group' },
  { tab: 'days', by: 'day', title: 'Days', one: 'Day (UTC)' },
]

/** What the page can be narrowed to. `name`: in the address and the API. */
export const filterParts: readonly {
  part: SumsPart
  name: keyof PageFilter
  title: string
  notForMembers?: true
}[] = [
  { part: 'model', name: 'model', title: 'Model' },
  { part: 'channel', name: 'channel', title: 'Channel', notForMembers: true },
  { part: 'tenant', name: 'tenant_id', title: 'Tenant', notForMembers: true },
  { part: 'key', name: 'key_id', title: 'Key' },
  { part: 'group', name: 'group_id', title: 'Group' },
]

type Ids = Partial<Pick<Row, 'tenant_id' | 'key_id' | 'group_id' | 'model' | 'channel' | 'at'>>
type Names = Partial<Pick<Row, 'tenant' | 'key' | 'group'>>

/** What a group of sums is of. `id`: as filters have it; empty: none has it. `name`: for readers. */
export function nameIn(row: Ids & Names, by: By): { id: string; name: string } {
  if (by === 'day') return { id: row.at ?? '', name: (row.at ?? '').slice(0, 10) }
  // Sums count names that no model has as one.
  if (by === 'model') return { id: row.model ?? '', name: row.model ?? 'Unknown models' }
  if (by === 'channel') return { id: row.channel ?? '', name: row.channel ?? 'No channel' }
  const id = row[`${by}_id`] ?? ''
  if (by === 'key' && id === '' && row.tenant_id)
    return { id, name: `${row.tenant ?? row.tenant_id} / no key` }
  if (id === '') return { id, name: by === 'group' ? 'No group' : 'Unknown callers' }
  const name = row[by] ?? id
  return { id, name: by === 'key' && row.tenant ? `${row.tenant} / ${name}` : name }
}

/** The columns that the table can be sorted by: their names in the address and the API. */
export const sorts: readonly { sort: SortKey | undefined; title: string }[] = [
  { sort: 'requests', title: 'Requests' },
  { sort: 'errors', title: 'Errors' },
  { sort: undefined, title: 'Total, p50' },
  { sort: 'latency', title: 'Total, p95' },
  { sort: 'tokens', title: 'Tokens' },
  { sort: 'cost', title: 'Spend' },
]

const sortKeys: readonly SortKey[] = ['requests', 'errors', 'latency', 'tokens', 'cost', 'at']
const knownSorts = sortKeys.flatMap((key): BreakdownSort[] => [`-${key}`, key])

/** The highest first; a second time, the lowest. */
export function nextSort(sort: BreakdownSort, key: SortKey): BreakdownSort {
  return sort === `-${key}` ? key : `-${key}`
}

/**
 * What the table shows. What an address does not say, or says wrongly, is the first tab and the most
 * requests.
 */
export function tableOf(
  search: Texts,
  isMember: boolean,
): { tab: (typeof tabs)[number]; sort: BreakdownSort } {
  const allowed = tabs.filter(({ notForMembers }) => !isMember || notForMembers !== true)
  const [first = { tab: 'models', by: 'model', title: 'Models', one: 'Model' }] = allowed
  const tab = allowed.find(({ tab }) => tab === search.tab) ?? first
  const sort = knownSorts.find((sort) => sort === search.sort)
  if (tab.by === 'day') return { tab, sort: sort ?? '-at' }
  return { tab, sort: sort === undefined || sort.endsWith('at') ? '-requests' : sort }
}

/** The address with another tab or order; the usual ones are left out of it. */
export function withTable(
  search: Texts,
  { tab, sort }: { tab?: string | null; sort?: BreakdownSort },
): Texts {
  const { tab: tabBefore, sort: sortBefore, ...rest } = search
  const next = { tab: tab ?? tabBefore, sort: sort ?? sortBefore }
  const usual = next.tab === 'days' ? '-at' : '-requests'
  return {
    ...rest,
    ...(next.tab === undefined || next.tab === 'models' ? {} : { tab: next.tab }),
    ...(next.sort === undefined || next.sort === usual ? {} : { sort: next.sort }),
  }
}

/** The address of the log with what a number of this page counts: its time and filters, and `filters`. */
export function inLog(search: Texts, filters: Texts = {}): Texts {
  const own = Object.entries(inLogNames(filterOf(search, false))).map(([name, [value = '']]) => [name, value])
  return { ...Object.fromEntries(own), ...filters, ...rangeOf(search) }
}

/** The same for one bar: its time, as far as the page shows it. */
export function barInLog(
  search: Texts,
  { from, to }: Pick<Terms, 'from' | 'to'>,
  bar: { from: string; to: string },
  filters: Texts = {},
): Texts {
  const { last: _last, ...rest } = inLog(search, filters)
  return {
    ...rest,
    from: bar.from > from ? bar.from : from,
    to: bar.to < to ? bar.to : to,
  }
}

/** How requests end that count as errors. */
export const errorOutcomes = ['refused', 'failed', 'orphaned']

/** The page of what a row is of. Members have none for groups. */
export function addressOf(by: By, id: string, role: string): string | undefined {
  return id === '' || by === 'day' || (by === 'group' && role === 'member')
    ? undefined
    : `/console/${by}s/${encodeURIComponent(id)}`
}
