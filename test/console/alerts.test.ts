import { describe, expect, test } from 'vitest'
import type { ListPage } from '../../console/src/api/list.ts'
import { detailsOf, waysOf } from '../../console/src/pages/alerts/episode-ways.ts'
import { inTurn } from '../../console/src/pages/alerts/in-turn.ts'
import {
  choicesFor,
  conditionOf,
  faultsOf,
  fieldsOf,
  kindsFor,
  ruleKinds,
  valuesOf,
} from '../../console/src/pages/alerts/rule-fields.ts'
import { ruleWords, testWords } from '../../console/src/pages/alerts/rule-words.ts'
import { formatFor } from '../../console/src/pages/alerts/webhook-format.ts'

describe('the form of a rule', () => {
  test('says the condition that it was opened with', () => {
    for (const condition of [
      { kind: 'error_rate', of: 'channel', name: 'a', above_percent: 5, window_minutes: 9, min_requests: 3 },
      { kind: 'budget', of: 'key', id: null, spent_percent: 80 },
      { kind: 'budget', of: 'group', id: null, below_usd: '5' },
      { kind: 'budget', of: 'tenant', id: null, below_usd: '0' },
      { kind: 'ledger_lag', older_than_seconds: 60, set_aside: false },
      { kind: 'new_network', key_id: null, learning_days: 0 },
    ] as const) {
      const { kind } = condition
      expect(conditionOf(kind, valuesOf(kind, condition))).toEqual(condition)
    }
  })

  test('of an amount sends no share', () => {
    const values = { ...valuesOf('budget'), of: 'tenant', by: 'below_usd', spent_percent: 50 }
    expect(fieldsOf('budget', values).map(({ name }) => name)).toEqual(['of', 'id', 'by', 'below_usd'])
    expect(conditionOf('budget', values)).toEqual({ kind: 'budget', of: 'tenant', id: null, below_usd: '10' })
  })

  test('of one tenant offers nothing that tenants share', () => {
    expect(kindsFor(true).map(({ kind }) => kind)).toEqual(['error_rate', 'latency', 'budget', 'new_network'])
    const ofs = kindsFor(true).flatMap(({ fields }) =>
      fields.filter(({ name }) => name === 'of').flatMap((field) => choicesFor(field, true)),
    )
    expect(new Set(ofs.map(({ value }) => value))).toEqual(new Set(['model', 'tenant', 'key']))
  })

  test('begins each kind with values that are all there', () => {
    for (const { kind } of ruleKinds) {
      for (const { name, isOptional } of fieldsOf(kind, valuesOf(kind))) {
        if (isOptional !== true) expect(valuesOf(kind)[name], `${kind}.${name}`).not.toBe('')
      }
    }
  })
})

test('conditions are sentences', () => {
  const rate = { window_minutes: 5, min_requests: 50, of: 'channel', name: null } as const
  expect(ruleWords({ kind: 'error_rate', above_percent: 5, ...rate })).toBe(
    'More than 5% of the requests of a channel fail within 5 min, with at least 50 requests',
  )
  expect(
    ruleWords({ kind: 'latency', metric: 'total', percentile: 'p95', above_ms: 2_000, ...rate, name: 'a' }),
  ).toBe('The p95 total time of the channel a is above 2 s within 5 min, with at least 50 requests')
  expect(ruleWords({ kind: 'budget', of: 'tenant', id: null, below_usd: '5' })).toBe(
    'Less than $5 of the balance or a budget of a tenant is left',
  )
  expect(ruleWords({ kind: 'budget', of: 'key', id: 'k', spent_percent: 80 })).toBe(
    '80% of a budget of the key k is spent',
  )
  expect(ruleWords({ kind: 'channel_down', channel: null, openings: 3 })).toBe(
    'The breaker of a channel opens, 3 times in a row, or its credentials are all refused',
  )
})

test('the answer to a test message is reported in words', () => {
  expect(testWords({ delivered: true, status: 202, answer: '', problem: null })).toBe(
    'Test delivered. The receiver answered 202, with an empty body.',
  )
  expect(
    testWords({ delivered: false, status: 500, answer: 'no', problem: 'responded with status 500' }),
  ).toBe('Test not accepted. The receiver answered 500:')
  expect(testWords({ delivered: false, status: null, answer: '', problem: 'connect ECONNREFUSED' })).toBe(
    'Test not delivered: connect ECONNREFUSED.',
  )
})

test('what is typed into a rule is judged before the API is asked', () => {
  const values = { ...valuesOf('error_rate'), above_percent: 500, window_minutes: 0, min_requests: '' }
  expect(faultsOf('error_rate', values)).toEqual({
    above_percent: 'At most 99.9 %.',
    window_minutes: 'At least 1.',
    min_requests: 'Write a number.',
  })
  for (const { kind } of ruleKinds) expect(faultsOf(kind, valuesOf(kind))).toEqual({})
})

test('the address of a webhook tells its product', () => {
  expect(formatFor('https://hooks.slack.com/services/T0/B0/x')).toBe('slack')
  expect(formatFor('https://x.12.environment.api.powerplatform.com:443/powerautomate/x')).toBe('teams')
  expect(formatFor('https://prod-1.westeurope.logic.azure.com/workflows/x')).toBe('teams')
  for (const url of [
    'https://hooks.slack.com.evil.example/x',
    'https://hooks.example.com',
    'hooks.slack.com',
    '',
  ])
    expect(formatFor(url)).toBeUndefined()
})

describe('an episode', () => {
  const rule = { id: 'r', name: 'r' }

  test('leads to the requests that it is about', () => {
    const details = {
      of: 'model',
      subject: 'gpt',
      from: '2026-11-24T01:00:00.000Z',
      to: '2026-11-24T01:06:00.000Z',
    }
    expect(waysOf({ rule: { ...rule, kind: 'error_rate' }, name: 'model gpt', details })).toEqual([
      {
        title: 'Its failed requests in the log',
        to: '/console/log',
        search: { requested_model: 'gpt', outcome: 'failed', from: details.from, to: details.to },
      },
    ])
    expect(waysOf({ rule: { ...rule, kind: 'uncharged' }, name: 'model gpt', details })[0]?.search).toEqual({
      ...{ requested_model: 'gpt', uncharged: 'true', from: details.from, to: details.to },
    })
  })

  test('leads to its key, its budget or the ledger', () => {
    const wayOf = (kind: 'new_network' | 'budget' | 'ledger_lag', details: Record<string, unknown>) =>
      waysOf({ rule: { ...rule, kind }, name: 'n', details }).map(({ to }) => to)
    expect(wayOf('new_network', { key_id: 'k', address: '10.0.0.1' })).toEqual([
      '/console/keys/k',
      '/console/log',
    ])
    expect(wayOf('budget', { of: 'group', id: 'g' })).toEqual(['/console/groups/g'])
    expect(wayOf('ledger_lag', {})).toEqual(['/console/ledger'])
    expect(wayOf('budget', {})).toEqual([])
  })

  test('tells what its name and its ways do not tell', () => {
    expect(detailsOf({ of: 'key', id: 'k', spent_usd: '9.5', networks: ['a', 'b'] })).toEqual([
      ['Spent, USD', '9.5'],
      ['Networks', 'a, b'],
    ])
  })
})

test('two lists are read as one, page by page', async () => {
  const pages: Record<string, ListPage<string>> = {
    'a ': { data: ['a1'], next_cursor: '2' },
    'a 2': { data: ['a2'], next_cursor: null },
    'b ': { data: ['b1'], next_cursor: '2' },
    'b 2': { data: ['b2'], next_cursor: null },
  }
  const read = (list: string) => async (cursor: string | undefined) =>
    pages[`${list} ${cursor ?? ''}`] ?? { data: ['wrong'], next_cursor: null }
  const found: string[][] = []
  let cursor: string | undefined
  do {
    const page: ListPage<string> = await inTurn(cursor, read('a'), read('b'))
    found.push(page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  expect(found).toEqual([['a1'], ['a2', 'b1'], ['b2']])
})
