import { describe, expect, test } from 'vitest'
import { errorFilter, errorWords } from '../../console/src/pages/overview/error-words.ts'
import {
  barInLog,
  inLog,
  nextSort,
  tableOf,
  withTable,
} from '../../console/src/pages/overview/overview-address.ts'
import { seriesAt, stepTo } from '../../console/src/parts/chart-pick.ts'

describe('the address of the overview', () => {
  test('has the tab and the order of the table, and leaves out the usual ones', () => {
    const search = { last: '1h' }
    const other = withTable(search, { tab: 'channels', sort: '-errors' })
    expect(other).toEqual({ last: '1h', tab: 'channels', sort: '-errors' })
    expect(tableOf(other, false)).toMatchObject({ tab: { by: 'channel' }, sort: '-errors' })
    expect(withTable(other, { tab: 'models' })).toEqual({ last: '1h', sort: '-errors' })
    expect(withTable(other, { sort: '-requests' })).toEqual({ last: '1h', tab: 'channels' })
  })

  test('that says something else, or what a member may not see, is the first tab and the most requests', () => {
    const usual = { tab: { by: 'model' }, sort: '-requests' }
    for (const search of [{}, { tab: 'nothing', sort: 'nothing' }, { tab: ['keys', 'keys'] }])
      expect(tableOf(search, false)).toMatchObject(usual)
    expect(tableOf({ tab: 'channels' }, true)).toMatchObject(usual)
    expect(tableOf({ tab: 'keys' }, true)).toMatchObject({ tab: { by: 'key' } })
  })
})

test('a column sorts by the highest first, and then by the lowest; days begin with the newest', () => {
  expect(nextSort('-requests', 'cost')).toBe('-cost')
  expect(nextSort('-cost', 'cost')).toBe('cost')
  expect(nextSort('cost', 'cost')).toBe('-cost')
  expect(tableOf({ tab: 'days' }, false).sort).toBe('-at')
  expect(tableOf({ sort: 'at' }, false).sort).toBe('-requests')
})

describe('a way into the log', () => {
  test('keeps the time and the tenant of the page, and nothing of its table', () => {
    expect(inLog({ last: '7d', tenant_id: 'a', tab: 'keys', sort: '-cost' }, { outcome: 'failed' })).toEqual({
      tenant_id: 'a',
      outcome: 'failed',
      last: '7d',
    })
    // The log has the model that was asked for by another name.
    expect(inLog({ model: 'm', channel: 'c', key_id: 'k' })).toEqual({
      requested_model: 'm',
      channel: 'c',
      key_id: 'k',
    })
    // A row of the table of tenants says which one.
    expect(inLog({ tenant_id: 'a' }, { tenant_id: 'b' })).toEqual({ tenant_id: 'b' })
  })

  test('of a bar has its time, cut where the page begins and ends', () => {
    const page = { from: '2026-11-24T10:30:00.000Z', to: '2026-11-24T12:10:00.000Z' }
    const bar = (from: string, to: string) =>
      barInLog({ last: '24h' }, page, { from, to }, { outcome: 'failed' })
    expect(bar('2026-11-24T11:00:00.000Z', '2026-11-24T12:00:00.000Z')).toEqual({
      outcome: 'failed',
      from: '2026-11-24T11:00:00.000Z',
      to: '2026-11-24T12:00:00.000Z',
    })
    expect(bar('2026-11-24T10:00:00.000Z', '2026-11-24T11:00:00.000Z').from).toBe(page.from)
    expect(bar('2026-11-24T12:00:00.000Z', '2026-11-24T13:00:00.000Z').to).toBe(page.to)
  })

  test('of a group of errors finds just its requests', () => {
    const group = {
      kind: 'upstream_error',
      reason: 'upstream_failed',
      endpoint: '/v1/messages',
      channel: 'eu',
      upstream_status: 529,
    }
    expect(errorWords(group)).toBe('upstream_failed: 529')
    expect(errorFilter(group, false)).toEqual({
      error_reason: 'upstream_failed',
      endpoint: '/v1/messages',
      channel: 'eu',
      upstream_status: '529',
    })
    // An empty value finds requests that have none. A member's groups have every channel.
    const alone = { ...group, channel: null, upstream_status: null }
    expect(errorFilter(alone, false)).toMatchObject({ channel: '', upstream_status: '' })
    expect(errorFilter(alone, true)).toEqual({ error_reason: 'upstream_failed', endpoint: '/v1/messages' })
    // Rows of before have no reason.
    expect(errorFilter({ ...alone, endpoint: null, reason: null }, true)).toEqual({
      error_kind: 'upstream_error',
    })
  })
})

describe('a bar of a chart', () => {
  const series = [
    { name: 'succeeded', values: [6, 0] },
    { name: 'refused', values: [0, null] },
    { name: 'failed', values: [3, 2] },
  ]

  test('is the part under the pointer, and none above the stack', () => {
    expect(seriesAt(series, 0, 5)).toBe('succeeded')
    expect(seriesAt(series, 0, 6.5)).toBe('failed')
    expect(seriesAt(series, 1, 0.5)).toBe('failed')
    expect(seriesAt(series, 0, 9.1)).toBeUndefined()
  })

  test('is reached by the arrow keys, from the last one on, and no further than the ends', () => {
    expect(stepTo('ArrowLeft', undefined, 3)).toBe(2)
    expect(stepTo('ArrowLeft', 0, 3)).toBe(0)
    expect(stepTo('ArrowRight', 1, 3)).toBe(2)
    expect(stepTo('ArrowRight', 2, 3)).toBe(2)
    expect([stepTo('Home', 2, 3), stepTo('End', 0, 3)]).toEqual([0, 2])
    expect(stepTo('x', 1, 3)).toBeUndefined()
  })
})
