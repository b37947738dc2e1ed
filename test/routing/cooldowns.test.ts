import { expect, test } from 'vitest'
import { CredentialCooldowns } from '../../src/routing/cooldowns.ts'
import { manualClock } from '../support/manual-clock.ts'

const bounds = { credentialRestMs: 30_000, retryAfterMsMax: 600_000 }
const one = { secret: 's1', name: 'aaaaaaaa' }
const two = { secret: 's2', name: 'bbbbbbbb' }

test('a rate limit rests one credential for one model, for the time that the upstream names, up to a bound', () => {
  const clock = manualClock()
  const cooldowns = new CredentialCooldowns(bounds, clock)
  expect(cooldowns.begin('c', one, 'm', 'limited', 7)).toBe(true)
  expect(cooldowns.find('c', one, 'm')).toEqual({
    why: 'limited',
    isFirm: true,
    until: 7_000,
    saidUntil: 7_000,
  })
  expect(cooldowns.find('c', two, 'm')).toBeUndefined()
  expect(cooldowns.find('c', one, 'other')).toBeUndefined()
  expect(cooldowns.find('other', one, 'm')).toBeUndefined()
  cooldowns.begin('c', two, 'm', 'limited', 86_400)
  expect(cooldowns.find('c', two, 'm')).toMatchObject({ until: 600_000, saidUntil: 86_400_000 })
  clock.pass(6_999)
  expect(cooldowns.find('c', one, 'm')).toBeDefined()
  clock.pass(1)
  expect(cooldowns.find('c', one, 'm')).toBeUndefined()
})

test('a refused credential rests for all models, and a rate limit without a time is not firm', () => {
  const cooldowns = new CredentialCooldowns(bounds, manualClock())
  cooldowns.begin('c', one, 'm', 'refused', undefined)
  expect(cooldowns.find('c', one, 'other')).toMatchObject({ why: 'refused', isFirm: false })
  expect(cooldowns.begin('c', one, 'other', 'refused', undefined)).toBe(false)
  cooldowns.begin('c', two, 'm', 'limited', undefined)
  expect(cooldowns.find('c', two, 'm')).toMatchObject({ isFirm: false, until: 5_000 })
})

test('a credential that is forbidden a model rests for that model only', () => {
  const cooldowns = new CredentialCooldowns(bounds, manualClock())
  expect(cooldowns.begin('c', one, 'm', 'forbidden', undefined)).toBe(true)
  expect(cooldowns.find('c', one, 'm')).toMatchObject({ why: 'forbidden', isFirm: false, until: 30_000 })
  expect(cooldowns.find('c', one, 'other')).toBeUndefined()
  expect(cooldowns.find('c', two, 'm')).toBeUndefined()
})

test('credentials in a cooldown are counted for each channel by its reason, each once for a reason', () => {
  const cooldowns = new CredentialCooldowns(bounds, manualClock())
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

test('a channel is refused while the last call with each of its credentials was, over the end of cooldowns', () => {
  const clock = manualClock()
  const cooldowns = new CredentialCooldowns(bounds, clock)
  const refusal = () => cooldowns.refusalOf('c', [one, two])
  cooldowns.begin('c', one, 'm', 'refused', undefined, 'status 401')
  expect(refusal()).toBeUndefined()
  clock.pass(1_000)
  cooldowns.begin('c', two, 'm', 'refused', undefined, 'status 402')
  clock.pass(bounds.credentialRestMs)
  expect(cooldowns.find('c', one, 'm')).toBeUndefined()
  cooldowns.begin('c', one, 'm', 'refused', undefined, 'status 401')
  expect(refusal()).toEqual({ since: 1_000, reason: 'status 402' })
  cooldowns.accept('c', two)
  expect(refusal()).toBeUndefined()
  expect(cooldowns.refusalOf('c', [one])).toEqual({ since: 0, reason: 'status 401' })
})
