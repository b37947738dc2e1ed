import { expect, test } from 'vitest'
import { keptFor } from '../../console/src/api/kept.ts'

test('an answer is kept while only the time moves, and never for another table, tenant, range or channel', () => {
  const question = ['breakdown', 'acme', { last: '24h' }, 'model']
  const keptAfter = (former: readonly unknown[]) => keptFor(question)('rows', { queryKey: former })
  expect(keptAfter([...question, '-cost', '2026-11-28T10:00:00Z'])).toBe('rows')
  for (const other of [
    ['breakdown', 'acme', { last: '24h' }, 'tenant'],
    ['breakdown', 'globex', { last: '24h' }, 'model'],
    ['breakdown', null, { last: '24h' }, 'model'],
    ['breakdown', 'acme', { last: '1h' }, 'model'],
    ['totals', 'acme', { last: '24h' }, 'model'],
    ['breakdown', 'acme'],
  ])
    expect(keptAfter([...other, '-cost', '2026-11-28T10:00:00Z']), JSON.stringify(other)).toBeUndefined()
  expect(keptFor(question)('rows', undefined)).toBeUndefined()
})
