import { expect, test, vi } from 'vitest'
import { Rests } from '../../src/routing/rests.ts'

const bounds = { credentialRestMs: 30_000, retryAfterMsMax: 600_000 }
const one = { secret: 's1', name: 'aaaaaaaa' }
const two = { secret: 's2', name: 'bbbbbbbb' }

test('a limit rests one credential for one model, for as long as the upstream says and is believed', () => {
  const rests = new Rests(bounds)
  expect(rests.begin('c', one, 'm', 'limited', 7)).toBe(true)
  const rest = rests.find('c', one, 'm')
  expect(rest).toMatchObject({ why: 'limited', isFirm: true })
  expect((rest?.until ?? 0) - performance.now()).toBeGreaterThan(6_000)
  expect((rest?.until ?? 0) - performance.now()).toBeLessThanOrEqual(7_000)
  expect(rests.find('c', two, 'm')).toBeUndefined()
  expect(rests.find('c', one, 'other')).toBeUndefined()
  expect(rests.find('other', one, 'm')).toBeUndefined()
  rests.begin('c', two, 'm', 'limited', 86_400)
  expect((rests.find('c', two, 'm')?.until ?? 0) - performance.now()).toBeLessThanOrEqual(600_000)
})

test('a refused credential rests for all models, and a limit without its end is not firm', () => {
  const rests = new Rests(bounds)
  rests.begin('c', one, 'm', 'refused', undefined)
  expect(rests.find('c', one, 'other')).toMatchObject({ why: 'refused', isFirm: false })
  expect(rests.begin('c', one, 'other', 'refused', undefined)).toBe(false)
  rests.begin('c', two, 'm', 'limited', undefined)
  expect(rests.find('c', two, 'm')).toMatchObject({ isFirm: false })
  expect((rests.find('c', two, 'm')?.until ?? 0) - performance.now()).toBeLessThanOrEqual(5_000)
})

test('a credential that is forbidden a model rests for that model only', () => {
  const rests = new Rests(bounds)
  expect(rests.begin('c', one, 'm', 'forbidden', undefined)).toBe(true)
  const rest = rests.find('c', one, 'm')
  expect(rest).toMatchObject({ why: 'forbidden', isFirm: false })
  expect((rest?.until ?? 0) - performance.now()).toBeGreaterThan(25_000)
  expect(rests.find('c', one, 'other')).toBeUndefined()
  expect(rests.find('c', two, 'm')).toBeUndefined()
})

test('a rest ends by itself', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  try {
    const rests = new Rests(bounds)
    rests.begin('c', one, 'm', 'limited', 7)
    now.mockReturnValue(7_999)
    expect(rests.find('c', one, 'm')).toBeDefined()
    now.mockReturnValue(8_001)
    expect(rests.find('c', one, 'm')).toBeUndefined()
  } finally {
    now.mockRestore()
  }
})
