import { expect, test } from 'vitest'
import { clientFilterParameters, filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { requestQuery } from '../../src/api/usage-query.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { filterNames, logFilters } from '../../src/usage/log/filters.ts'

/** What only operators and members may know. */
const notForClients = [
  ...['tenant', 'tenant_id', 'key', 'group', 'group_id', 'upstream_protocol', 'channel', 'upstream_status'],
  ...['upstream_request_id', 'cost_fact', 'price_id', 'price_multiplier', 'uncharged'],
]

test('a client filters its log by every column but those of other tenants, groups, prices and upstreams', () => {
  const names = Object.keys(clientFilterParameters).filter((name) => !name.startsWith('not_'))
  expect(filterNames.filter((name) => !names.includes(name)).sort()).toEqual(notForClients.sort())
})

test('the list of a client refuses what it may not filter by, negated or not', () => {
  for (const name of notForClients)
    for (const parameter of [name, `not_${name}`])
      expect(requestQuery.safeParse({ [parameter]: '' }).success, parameter).toBe(false)
})

test('the forms of the list of a client select what the filters of the same names do', () => {
  const query = {
    model: 'm',
    status: '4xx',
    outcome: 'failed',
    endpoint: '/v1/messages',
    request_id: '019B8648-4C00-7000-8000-000000000000',
    end_user: 'u',
    session: 's',
    tag: ['a', 'b'],
  }
  expect(filterFrom(requestQuery.parse(query))).toEqual(filterFrom(filterQuery.parse(query)))
})

test('the console finds the value of a column where the API shows it', () => {
  for (const name of filterNames) {
    const { width, member = name, columns } = { member: undefined, width: undefined, ...logFilters[name] }
    if (width === undefined) continue
    expect(requestColumns.find((column) => column.name === columns[0])?.member, name).toBe(member)
  }
})
