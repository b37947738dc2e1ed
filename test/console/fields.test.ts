import { expect, test } from 'vitest'
import {
  bodyOf,
  type Field,
  faultsOf,
  mergePatch,
  patched,
  patchOf,
  readObject,
  rebased,
  valuesOf,
} from '../../console/src/parts/fields.ts'

const fields: Field[] = [
  { path: 'name', label: 'Name', kind: 'text', required: true },
  { path: 'limits.requests_per_minute', label: 'Requests', kind: 'integer' },
  { path: 'limits.concurrency', label: 'At once', kind: 'integer' },
  { path: 'budget.day', label: 'A day', kind: 'usd' },
  { path: 'allowed_models', label: 'Models', kind: 'tags' },
  { path: 'capture_answers', label: 'Answers', kind: 'choice', isBoolean: true },
  { path: 'strict', label: 'Strict', kind: 'switch' },
]
const key = {
  name: 'ci',
  limits: { requests_per_minute: 60, tokens_per_minute: null, concurrency: 4 },
  budget: { day: '1.000000001', month: null, total: null },
  allowed_models: null,
  capture_answers: null,
  strict: false,
}

test('an untouched form changes nothing', () => {
  const before = valuesOf(fields, key)
  expect(patchOf(fields, before, valuesOf(fields, key))).toEqual({})
})

test('a patch has what changed, and null for what is empty now', () => {
  const before = valuesOf(fields, key)
  const after = valuesOf(fields, { ...key, limits: { ...key.limits, concurrency: null }, strict: true })
  expect(patchOf(fields, before, after)).toEqual({ limits: { concurrency: null }, strict: true })
})

test('limits of which nothing is set are not limits, so that those of the group count', () => {
  const before = valuesOf(fields, key)
  expect(patchOf(fields, before, valuesOf(fields, { ...key, limits: null }))).toEqual({ limits: null })
})

test('money keeps every digit', () => {
  expect(bodyOf(fields, valuesOf(fields, key))).toEqual({
    name: 'ci',
    limits: { requests_per_minute: 60, concurrency: 4 },
    budget: { day: '1.000000001' },
    strict: false,
  })
})

test('says what is wrong before the API is asked', () => {
  const values = valuesOf(fields, { name: '', limits: { concurrency: '1.5' }, budget: { day: '1,50' } })
  expect(Object.keys(faultsOf(fields, values))).toEqual(['name', 'limits.concurrency', 'budget.day'])
})

test('a merge patch of JSON takes out what is not there any more', () => {
  expect(mergePatch({ a: 1, map: { x: 1, y: 2 } }, { map: { x: 1, y: 3 } })).toEqual({
    a: null,
    map: { y: 3 },
  })
  expect(() => readObject('[1]')).toThrow('Write an object')
  expect(() => readObject('{')).toThrow('This is not JSON')
})

test('after a change by somebody else, what was typed stays and all else is as it stands now', () => {
  const before = valuesOf(fields, key)
  const now = valuesOf(fields, {
    ...key,
    name: 'renamed',
    limits: { ...key.limits, concurrency: 9 },
    strict: true,
  })
  const typed = valuesOf(fields, {
    ...key,
    limits: { ...key.limits, concurrency: 7 },
    allowed_models: ['main'],
  })
  const values = rebased(fields, { before, now, typed })
  expect(values).toEqual(
    valuesOf(fields, {
      ...{ ...key, name: 'renamed', strict: true, allowed_models: ['main'] },
      limits: { ...key.limits, concurrency: 7 },
    }),
  )
  // Only what was typed is sent.
  expect(patchOf(fields, now, values)).toEqual({ limits: { concurrency: 7 }, allowed_models: ['main'] })
})

test('a patch is put on the current state, map by map, and a null stays to be seen', () => {
  expect(patched({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 3 }, d: null })).toEqual({
    a: { b: 3, c: 2 },
    d: null,
  })
})

const pairs: Field[] = [
  { path: 'headers', label: 'Headers', kind: 'pairs', one: 'header', isSecret: true },
  { path: 'protocols', label: 'Base URLs', kind: 'pairs' },
  { path: 'allow', label: 'Allowed', kind: 'tags', isAllOrSome: true },
]
const channel = { headers: ['x-a', 'x-b'], protocols: { gemini: 'https://a' }, allow: true }

test('a header that is not touched keeps its value, and a change has only those that come, go or differ', () => {
  const before = valuesOf(pairs, channel)
  expect(patchOf(pairs, before, before)).toEqual({})
  const headers = [
    { name: 'x-a', value: '', isKept: true },
    { name: ' x-c ', value: 'new' },
    { name: '', value: '' },
  ]
  expect(patchOf(pairs, before, { ...before, headers })).toEqual({ headers: { 'x-b': null, 'x-c': 'new' } })
  expect(patchOf(pairs, before, { ...before, headers: [] })).toEqual({ headers: null })
  const moved = [{ name: 'openai-chat', value: 'https://b' }]
  expect(patchOf(pairs, before, { ...before, protocols: moved })).toEqual({
    protocols: { gemini: null, 'openai-chat': 'https://b' },
  })
})

test('headers that were written as JSON join those whose values the API keeps', () => {
  const before = valuesOf(pairs, channel)
  const { headers } = valuesOf(pairs, { headers: { 'x-b': null, 'x-c': 'new' } }, before)
  expect(headers).toEqual([
    { name: 'x-a', value: '', isKept: true },
    { name: 'x-c', value: 'new' },
  ])
})

test('a pair without a name, without a value, or twice is reported', () => {
  const faultOf = (headers: { name: string; value: string }[]) => faultsOf(pairs, { headers }).headers
  expect(faultOf([{ name: '', value: 'x' }])).toBe('A header has no name.')
  expect(faultOf([{ name: 'x-a', value: '' }])).toBe('x-a has no value.')
  expect(
    faultOf([
      { name: 'x-a', value: '1' },
      { name: 'X-A', value: '2' },
    ]),
  ).toBe('x-a is there twice.')
})

test('all or some: the tag * is all', () => {
  const before = valuesOf(pairs, channel)
  expect(before.allow).toEqual(['*'])
  expect(patchOf(pairs, before, { ...before, allow: ['10.0.0.0/8'] })).toEqual({ allow: ['10.0.0.0/8'] })
  expect(bodyOf(pairs, { ...before, headers: [], allow: ['*'] })).toMatchObject({ allow: true })
  expect(patchOf(pairs, before, { ...before, allow: [] })).toEqual({ allow: null })
})
