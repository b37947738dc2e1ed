import { expect, test, vi } from 'vitest'
import { CredentialCooldowns } from '../../src/routing/cooldowns.ts'

const bounds = { credentialRestMs: 30_000, retryAfterMsMax: 600_000 }
const one = { secret: 's1', name: 'aaaaaaaa' }
const two = { secret: 's2', name: 'bbbbbbbb' }

test('a rate limit rests one credential for one model, for the time that the upstream names, up to a bound', () => {
  const cooldowns = new CredentialCooldowns(bounds)
  expect(cooldowns.begin('c', one, 'm', 'limited', 7)).toBe(true)
  const cooldown = cooldowns.find('c', one, 'm')
  expect(cooldown).toMatchObject({ why: 'limited', isFirm: true })
  expect((cooldown?.until ?? 0) - performance.now()).toBeGreaterThan(6_000)
  expect((cooldown?.until ?? 0) - performance.now()).toBeLessThanOrEqual(7_000)
  expect(cooldowns.find('c', two, 'm')).toBeUndefined()
  expect(cooldowns.find('c', one, 'other')).toBeUndefined()
  expect(cooldowns.find('other', one, 'm')).toBeUndefined()
  cooldowns.begin('c', two, 'm', 'limited', 86_400)
  expect((cooldowns.find('c', two, 'm')?.until ?? 0) - performance.now()).toBeLessThanOrEqual(600_000)
})

test('a refused credential rests for all models, and a rate limit without a time is not firm', () => {
  const cooldowns = new CredentialCooldowns(bounds)
  cooldowns.begin('c', one, 'm', 'refused', undefined)
  expect(cooldowns.find('c', one, 'other')).toMatchObject({ why: 'refused', isFirm: false })
  expect(cooldowns.begin('c', one, 'other', 'refused', undefined)).toBe(false)
  cooldowns.begin('c', two, 'm', 'limited', undefined)
  expect(cooldowns.find('c', two, 'm')).toMatchObject({ isFirm: false })
  expect((cooldowns.find('c', two, 'm')?.until ?? 0) - performance.now()).toBeLessThanOrEqual(5_000)
})

test('a credential that is forbidden a model rests for that model only', () => {
  const cooldowns = new CredentialCooldowns(bounds)
  expect(cooldowns.begin('c', one, 'm', 'forbidden', undefined)).toBe(true)
  const cooldown = cooldowns.find('c', one, 'm')
  expect(cooldown).toMatchObject({ why: 'forbidden', isFirm: false })
  expect((cooldown?.until ?? 0) - performance.now()).toBeGreaterThan(25_000)
  expect(cooldowns.find('c', one, 'other')).toBeUndefined()
  expect(cooldowns.find('c', two, 'm')).toBeUndefined()
})

test('credentials in a cooldown are counted for each channel by its reason, each once for a reason', () => {
  const cooldowns = new CredentialCooldowns(bounds)
  cooldowns.begin('c', one, 'm', 'limited', undefined)
  cooldowns.begin('c', one, 'other', 'limited', undefined)
  cooldowns.begin('c', one, 'm 2', 'forbidden', undefined)
  cooldowns.begin('c', two, 'm', 'refused', undefined)
  cooldowns.begin('d', two, 'm', 'limited', undefined)
  expect(Object.fromEntries(cooldowns.counts())).toEqual({
    c: { limited: 1, refused: 1, forbidden: 1 },
    d: { limited: 1, refused: 0, forbidden: 0 },
  })
})

test('a cooldown ends by itself', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  try {
    const cooldowns = new CredentialCooldowns(bounds)
    cooldowns.begin('c', one, 'm', 'limited', 7)
    now.mockReturnValue(7_999)
    expect(cooldowns.find('c', one, 'm')).toBeDefined()
    now.mockReturnValue(8_001)
    expect(cooldowns.find('c', one, 'm')).toBeUndefined()
  } finally {
    now.mockRestore()
  }
})
