import { expect, test } from 'vitest'
import { newId } from '../../console/src/api/new-id.ts'
import {
  callersOf,
  leftOf,
  limitsInWords,
  spentBudgets,
  stateOfKey,
  sumOf,
} from '../../console/src/pages/access/access-words.ts'
import { keyFilters } from '../../console/src/pages/keys/key-filters.ts'
import { whyNot } from '../../console/src/pages/keys/why-not.ts'
import { pageOfLink } from '../../console/src/pages/users/link-address.ts'

test('the id of an entry is a UUID', () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newId()).not.toBe(newId())
})

test('an entry is added to a balance exactly', () => {
  expect(sumOf('100000000000', '-0.000420001')).toBe('99999579999')
  expect(sumOf('1', '9007199254740993.5')).toBe('9007199254740993500000001')
  expect(sumOf('1', '1e3')).toBeUndefined()
})

test('the state of a key', () => {
  const now = new Date('2026-11-24T12:00:00Z')
  const key = { blocked: null, disabled: false, revoked_at: null, expires_at: null }
  expect(stateOfKey(key, now).words).toBe('enabled')
  expect(stateOfKey({ ...key, expires_at: '2026-11-26T12:00:00Z' }, now).words).toBe('expires soon')
  expect(stateOfKey({ ...key, expires_at: '2026-11-24T11:00:00Z' }, now).words).toBe('expired')
  expect(stateOfKey({ ...key, blocked: { at: '' }, disabled: true }, now).words).toBe('blocked')
  expect(stateOfKey({ ...key, disabled: true, revoked_at: '2026-11-24T11:00:00Z' }, now).words).toBe(
    'revoked',
  )
})

test('what the gateway would refuse to do with a key is known before it is asked', () => {
  const key = { revoked_at: null, blocked: null, disabled_by: null, managed_by: 'admin' } as const
  const block = { at: '', by: '', by_role: 'admin', reason: '', of_parent: true } as const
  const verbs = ['Block', 'Unblock', 'Disable', 'Enable', 'Revoke'] as const
  const refused = (of: Parameters<typeof whyNot>[1], isMember = false) =>
    verbs.filter((verb) => whyNot(verb, of, isMember) !== undefined)
  expect(refused(key)).toEqual([])
  expect(refused({ ...key, managed_by: 'file' })).toEqual(['Disable', 'Enable', 'Revoke'])
  expect(refused({ ...key, revoked_at: '' })).toEqual(verbs)
  expect(refused({ ...key, blocked: block })).toEqual(['Unblock'])
  const ofAdmin = { ...block, of_parent: false }
  expect(refused({ ...key, blocked: ofAdmin })).toEqual([])
  expect(refused({ ...key, blocked: ofAdmin }, true)).toEqual(['Unblock'])
  expect(refused({ ...key, blocked: { ...ofAdmin, by_role: 'member' } }, true)).toEqual([])
  expect(whyNot('Disable', { ...key, managed_by: 'file' }, true)).not.toContain('yaml')
  expect(refused({ ...key, disabled_by: 'admin' })).toEqual([])
  expect(refused({ ...key, disabled_by: 'admin' }, true)).toEqual(['Enable'])
  expect(refused({ ...key, disabled_by: 'member' }, true)).toEqual([])
})

test('what is left of a limit', () => {
  expect(leftOf(5n, 100n)).toEqual({ part: 0.05, tone: 'warning' })
  expect(leftOf(0n, 100n)).toEqual({ part: 0, tone: 'bad' })
  expect(leftOf(200n, 100n).part).toBe(1)
  expect(leftOf(1n, 0n).tone).toBe('bad')
})

test('a budget of its own of which nothing is left is found, and no budget of another', () => {
  const budget = (of: string, free_nano_usd: string) => ({ of, free_nano_usd })
  const spent = budget('tenant', '0')
  const budgets = [spent, budget('tenant', '1'), budget('group', '0')]
  expect(spentBudgets('tenant', budgets)).toEqual([spent])
  expect(spentBudgets('key', budgets)).toEqual([])
})

test('limits in words', () => {
  expect(limitsInWords({ requests_per_minute: 60, tokens_per_minute: null, concurrency: 4 })).toBe(
    '60 requests/min, 4 at once',
  )
  expect(
    limitsInWords({ requests_per_minute: null, tokens_per_minute: null, concurrency: null }),
  ).toBeUndefined()
})

test('callers of a key, the busiest first', () => {
  const row = (client_address: string, created_at: string) => ({
    client_address,
    user_agent: 'curl',
    created_at,
  })
  expect(callersOf([row('10.0.0.1', '3'), row('10.0.0.2', '2'), row('10.0.0.2', '4')])).toEqual([
    { address: '10.0.0.2', program: 'curl', requests: 2, last: '4' },
    { address: '10.0.0.1', program: 'curl', requests: 1, last: '3' },
  ])
})

test('filters of the list of keys', () => {
  const get = (search: Record<string, string>) => (name: string) => search[name] ?? ''
  const now = new Date('2026-11-24T12:00:00Z')
  expect(keyFilters(get({ state: 'disabled', tenant: 'acme', expires: '7', sort: 'drop' }), now)).toEqual({
    tenant: 'acme',
    disabled: 'true',
    revoked: 'false',
    expires_before: '2026-12-02T00:00:00.000Z',
  })
  expect(keyFilters(get({ network: '203.0.113.7', new_network: '7', sort: '-new_network_at' }), now)).toEqual(
    {
      network: '203.0.113.7',
      new_network_since: '2026-11-17T00:00:00.000Z',
      sort: '-new_network_at',
    },
  )
})

test('a link leads to the page, with its token after the sign #', () => {
  expect(pageOfLink('https://llm.example', 'tgl_aB-9_x')).toBe('https://llm.example/console/link#tgl_aB-9_x')
})
