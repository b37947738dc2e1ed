import type { Texts } from '../../console-search.ts'
import { rangeOf } from '../../format/range.ts'
import type { BreakdownSort, By, Terms } from './overview-query.ts'

/** The parts of the table, as the address names them. */
export const tabs: readonly { tab: string; by: By; title: string; one: string; notForMembers?: true }[] = [
  { tab: 'models', by: 'model', title: 'Models', one: 'Model' },
  { tab: 'channels', by: 'channel', title: 'Channels', one: 'Channel', notForMembers: true },
  { tab: 'tenants', by: 'tenant', title: 'Tenants', one: 'Tenant', notForMembers: true },
  { tab: 'keys', by: 'key', title: 'Keys', one: 'Key' },
]

/** The columns that the table can be sorted by: their names in the address and the API. */
export const sorts: readonly { sort: BreakdownSort | undefined; title: string }[] = [
  { sort: '-requests', title: 'Requests' },
  { sort: '-errors', title: 'Errors' },
  { sort: undefined, title: 'Total, p50' },
  { sort: '-latency', title: 'Total, p95' },
  { sort: '-tokens', title: 'Tokens' },
  { sort: '-cost', title: 'Spend' },
]

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
  return {
    tab: allowed.find(({ tab }) => tab === search.tab) ?? first,
    sort: sorts.find(({ sort }) => sort !== undefined && sort === search.sort)?.sort ?? '-requests',
  }
}

/** The address with another tab or order; the usual ones are left out of it. */
export function withTable(
  search: Texts,
  { tab, sort }: { tab?: string | null; sort?: BreakdownSort },
): Texts {
  const { tab: tabBefore, sort: sortBefore, ...rest } = search
  const next = { tab: tab ?? tabBefore, sort: sort ?? sortBefore }
  return {
    ...rest,
    ...(next.tab === undefined || next.tab === 'models' ? {} : { tab: next.tab }),
    ...(next.sort === undefined || next.sort === '-requests' ? {} : { sort: next.sort }),
  }
}

/** The address of the log with what a number of this page counts: the same time and tenant, and `filters`. */
export function inLog(search: Texts, filters: Texts = {}): Texts {
  const { tenant_id } = search
  return { ...(tenant_id === undefined ? {} : { tenant_id }), ...filters, ...rangeOf(search) }
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
