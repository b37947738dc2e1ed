import { describe, expect, test } from 'vitest'
import { actionWords, wordsOfAction } from '../../console/src/pages/audit/action-words.ts'
import { placeOf, queryOf, resources } from '../../console/src/pages/audit/audit-fields.ts'
import { changesOf, membersOf } from '../../console/src/parts/changes.ts'
import { readSources } from '../support/sources.ts'

describe('what has changed', () => {
  test('is reported member by member', () => {
    expect(
      changesOf(
        { name: 'a', limits: { rpm: 5, tpm: 9 }, note: 'x' },
        { name: 'b', limits: { rpm: 5, concurrency: 2 }, note: null },
      ),
    ).toEqual([
      { path: 'limits.concurrency', kind: 'added', before: undefined, after: '2' },
      { path: 'limits.tpm', kind: 'removed', before: '9', after: undefined },
      { path: 'name', kind: 'changed', before: 'a', after: 'b' },
      { path: 'note', kind: 'removed', before: 'x', after: undefined },
    ])
  })

  test('of a list of texts is what came and what went', () => {
    expect(changesOf({ models: ['a', 'b', 'c'] }, { models: ['a', 'c', 'd'] })).toEqual([
      { path: 'models', kind: 'changed', before: 'b', after: 'd (2 others stay)' },
    ])
    expect(changesOf({ models: ['a', 'b'] }, { models: ['a'] })).toEqual([
      { path: 'models', kind: 'changed', before: 'b', after: 'removed (1 other stays)' },
    ])
  })

  test('is also the order of a list, and a list that becomes empty', () => {
    expect(changesOf({ models: ['a', 'b'] }, { models: ['b', 'a'] })).toEqual([
      { path: 'models', kind: 'changed', before: 'a, b', after: 'b, a' },
    ])
    expect(changesOf({ models: ['a'] }, { models: [] })).toEqual([
      { path: 'models', kind: 'changed', before: 'a', after: '[]' },
    ])
  })

  test('is nothing where both are the same, or neither is there', () => {
    expect(changesOf({ a: { b: [1] } }, { a: { b: [1] } })).toEqual([])
    expect(changesOf(null, undefined)).toEqual([])
  })
})

test('the members of a thing that was made, without what is not set', () => {
  expect(membersOf({ name: 'a', limits: { rpm: 5 }, note: null })).toEqual([
    ['name', 'a'],
    ['limits.rpm', '5'],
  ])
  expect(membersOf(null)).toEqual([])
})

test('a line leads to its thing, unless that is gone', () => {
  const line = { action: 'key.change', resource: 'key', resource_id: 'k', after: {} }
  expect(placeOf(line)).toMatchObject({ to: '/console/keys/k', area: 'keys' })
  expect(placeOf({ ...line, resource: 'model', resource_id: 'vendor/a' })).toMatchObject({
    to: '/console/models/vendor%2Fa',
    area: 'catalog',
  })
  expect(placeOf({ ...line, action: 'channel.delete', resource: 'channel', after: null })).toBeUndefined()
  expect(placeOf({ ...line, resource: 'something new' })).toBeUndefined()
})

test('the address is what the API is asked for', () => {
  const now = new Date('2026-11-24T12:00:00.000Z')
  expect(queryOf({ action: 'key.revoke', last: '1h', view: 'x' }, now)).toEqual({
    action: 'key.revoke',
    from: '2026-11-24T11:00:00.000Z',
    to: '2026-11-24T12:00:00.000Z',
  })
})

describe('the words of an action', () => {
  /** What a link does and undoes, and the verbs of a setting: the code puts these together. */
  const joined = [
    ...['setup', 'invitation', 'reset'].flatMap((purpose) => [`${purpose}.redeem`, `${purpose}.delete`]),
    ...['channel', 'model'].flatMap((what) =>
      ['make', 'change', 'enable', 'disable'].map((verb) => `${what}.${verb}`),
    ),
    'channel.block',
    'channel.unblock',
  ]
  /** Types of webhooks, and a field of a request. */
  const others = ['alert.opened', 'alert.closed', 'alert.test', 'file.text']

  test('are in the table for each action that the code writes, and for no other', () => {
    const things = [...resources, 'password', 'playground', 'second_factor'].join('|')
    const literal = new RegExp(`'((?:${things})\\.[a-z_]+)'`, 'g')
    const written = readSources()
      .filter(({ file }) => file.startsWith('src/'))
      .flatMap(({ text }) => [...text.matchAll(literal)].map(([, action = '']) => action))
    const actions = new Set([...written, ...joined].filter((action) => !others.includes(action)))
    expect([...actions].sort()).toEqual(Object.keys(actionWords).sort())
  })

  test('are the code itself where a newer gateway writes another one', () => {
    expect(wordsOfAction('session.open')).toBe('Signed in')
    expect(wordsOfAction('key.forge')).toBe('key.forge')
  })
})

test('the list is sorted by time only as the API takes it', () => {
  const now = new Date('2026-11-24T12:00:00Z')
  expect(queryOf({ sort: 'created_at' }, now).sort).toBe('created_at')
  expect(queryOf({ sort: 'drop' }, now).sort).toBeUndefined()
})
