import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Decision, type LimitLease, type LimitScope, unlimitedLease } from '../../src/limits/limits.ts'
import { seeded } from '../support/random.ts'
import { backends, type Clocked } from './backends.ts'
import { granted, refused, scopeOf } from './scopes.ts'

/** The exact meaning of limits, on every backend. The test sets the clock. */

const second = 1_000

describe.each(backends().map((backend) => [backend.name, backend] as const))('limits in %s', (_, backend) => {
  let clocked: Clocked
  beforeAll(() => backend.start())
  afterAll(() => backend.stop())
  beforeEach(async () => {
    clocked = await backend.open()
  })
  const take = (scopes: readonly LimitScope[], tokens = 0) =>
    clocked.limits.take(scopes, tokens, randomUUID())

  test('callers without limits share one lease, at once', () => {
    expect(take([])).toBe(unlimitedLease)
  })

  test("requests: a minute's worth at once, then one at a time as they refill; a refusal takes nothing", async () => {
    const key = scopeOf({ requestsPerMinute: 6 })
    for (let left = 5; left >= 0; left--) {
      expect(await take([key])).toMatchObject({ granted: true, requests: { limit: 6, remaining: left } })
    }
    clocked.pass(4 * second)
    for (let i = 0; i < 3; i++) {
      expect(await take([key])).toEqual({
        granted: false,
        scope: 'key',
        limit: 'requests',
        allowed: 6,
        retryAfterMs: 6 * second,
        requests: { limit: 6, remaining: 0, resetMs: 56 * second },
        tokens: undefined,
      })
    }
    clocked.pass(6 * second)
    await granted(take([key]))
    await refused(take([key]))
    await granted(take([scopeOf({ requestsPerMinute: 6 })]))
  })

  test('the wait in a refusal is long enough, and a millisecond less is not', async () => {
    const key = scopeOf({ requestsPerMinute: 7, tokensPerMinute: 130 })
    for (let i = 0; i < 200; i++) {
      const tokens = 1 + (i % 100)
      const decision = await take([key], tokens)
      if (decision.granted) continue
      clocked.pass(decision.retryAfterMs - 1)
      expect(await refused(take([key], tokens))).toMatchObject({ retryAfterMs: 1 })
      clocked.pass(1)
      await granted(take([key], tokens))
    }
  })

  test('tokens: a request holds its estimate, and the settlement replaces it by the true count', async () => {
    const key = scopeOf({ tokensPerMinute: 1000 })
    const first = await granted(take([key], 800))
    expect(first).toMatchObject({ tokens: { limit: 1000, remaining: 200, resetMs: 48 * second } })
    expect(await take([key], 300)).toMatchObject({ limit: 'tokens', retryAfterMs: 6 * second })
    first.settle(100)
    const again = await granted(take([key], 900))
    again.settle(1900)
    expect(await take([key], 1)).toMatchObject({ limit: 'tokens', tokens: { remaining: 0 } })
    clocked.pass(60 * second)
    expect(await take([key], 1)).toMatchObject({ retryAfterMs: 60 })
    clocked.pass(60)
    await granted(take([key], 1))
  })

  test('a late settlement still charges what the request used beyond its estimate', async () => {
    const key = scopeOf({ tokensPerMinute: 1000 })
    const long = await granted(take([key], 500))
    clocked.pass(600 * second)
    long.settle(2_000)
    expect(await take([key], 1)).toMatchObject({ granted: false, tokens: { resetMs: 90 * second } })
    clocked.pass(600 * second)
    const short = await granted(take([key], 500))
    clocked.pass(600 * second)
    short.settle(0)
    expect(await take([key], 1_000)).toMatchObject({ granted: true, tokens: { remaining: 0 } })
  })

  test('an estimate above the limit passes when the whole minute is free', async () => {
    const key = scopeOf({ tokensPerMinute: 10 })
    const first = await granted(take([key], 500))
    first.settle(5)
    expect(await take([key], 500)).toMatchObject({ retryAfterMs: 30 * second })
  })

  test('concurrency: a place is free again once its lease is settled, and settling twice frees one', async () => {
    const key = scopeOf({ concurrency: 2, requestsPerMinute: 100 })
    const first = await granted(take([key]))
    await granted(take([key]))
    expect(await take([key])).toMatchObject({
      limit: 'concurrency',
      allowed: 2,
      retryAfterMs: second,
      requests: { remaining: 98 },
    })
    first.settle(0)
    first.settle(0)
    await granted(take([key]))
    expect(await take([key])).toMatchObject({ granted: false, limit: 'concurrency' })
  })

  test('a limit of 0 refuses everything', async () => {
    for (const name of ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const) {
      expect(await take([scopeOf({ [name]: 0 })], 0)).toMatchObject({ granted: false, allowed: 0 })
    }
  })

  test('a clock that is set back neither gives nor takes anything', async () => {
    const key = scopeOf({ requestsPerMinute: 1 })
    await granted(take([key]))
    clocked.pass(-100 * second)
    await refused(take([key]))
    clocked.pass(60 * second)
    await granted(take([key]))
  })

  test('a limit that is raised has room at once, and one that is lowered has none until it has refilled', async () => {
    const { id, ...key } = scopeOf({ requestsPerMinute: 2 })
    const of = (requestsPerMinute: number) => [{ ...key, id, limits: { ...key.limits, requestsPerMinute } }]
    await granted(take(of(2)))
    await granted(take(of(2)))
    expect(await take(of(10))).toMatchObject({ granted: true, requests: { limit: 10, remaining: 7 } })
    expect(await take(of(1))).toMatchObject({ retryAfterMs: 180 * second })
  })

  test('key, group and tenant: a request that one of them refuses is charged to none', async () => {
    const key = scopeOf({ requestsPerMinute: 100, concurrency: 100 }, 'key')
    const group = scopeOf({ tokensPerMinute: 100 }, 'group')
    const tenant = scopeOf({ requestsPerMinute: 3, concurrency: 2 }, 'tenant')
    const all = [key, group, tenant]
    const first = await granted(take(all, 60))
    expect(first).toMatchObject({
      requests: { limit: 3, remaining: 2 },
      tokens: { limit: 100, remaining: 40 },
    })
    expect(await take(all, 60)).toMatchObject({ scope: 'group', limit: 'tokens', retryAfterMs: 12 * second })
    const next = await granted(take(all, 10))
    expect(await take(all, 0)).toMatchObject({ scope: 'tenant', limit: 'concurrency', allowed: 2 })
    first.settle(60)
    next.settle(10)
    await granted(take(all, 0))
    expect(await take(all, 0)).toMatchObject({ scope: 'tenant', limit: 'requests', allowed: 3 })
    // The key counts only the granted requests: three before this one.
    expect(await take([key])).toMatchObject({ granted: true, requests: { remaining: 96 } })
    expect(await take([group], 0)).toMatchObject({ tokens: { remaining: 30 } })
  })

  test('if several limits have no room, the refusal names the one with the longest wait', async () => {
    const key = scopeOf({ requestsPerMinute: 60, tokensPerMinute: 60 }, 'key')
    const tenant = scopeOf({ requestsPerMinute: 1, concurrency: 1 }, 'tenant')
    const lease = await granted(take([key, tenant], 60))
    expect(await take([key, tenant], 20)).toMatchObject({ scope: 'tenant', limit: 'requests' })
    clocked.pass(59 * second)
    expect(await take([key, tenant], 60)).toMatchObject({
      scope: 'key',
      limit: 'tokens',
      retryAfterMs: second,
    })
    clocked.pass(second)
    expect(await take([key, tenant], 60)).toMatchObject({ scope: 'tenant', limit: 'concurrency' })
    lease.settle(60)
    await granted(take([key, tenant], 60))
  })

  test('two decisions: tokens are held after the request, and only what was used is charged at the end', async () => {
    const key = scopeOf({ requestsPerMinute: 10, tokensPerMinute: 1_000, concurrency: 2 })
    const lease = await granted(take([key]))
    expect(lease).toMatchObject({ requests: { remaining: 9 }, tokens: { remaining: 1_000 } })
    expect(await lease.hold(600)).toMatchObject({
      granted: true,
      requests: { remaining: 9 },
      tokens: { limit: 1_000, remaining: 400, resetMs: 36 * second },
    })
    lease.settle(100)
    expect(await take([key])).toMatchObject({ granted: true, tokens: { remaining: 900 } })
  })

  test('a second decision that one scope refuses gives back the request and its place in all of them', async () => {
    const key = scopeOf({ requestsPerMinute: 10, concurrency: 1 }, 'key')
    const group = scopeOf({ requestsPerMinute: 10, tokensPerMinute: 5_000 }, 'group')
    const tenant = scopeOf({ tokensPerMinute: 100, concurrency: 1 }, 'tenant')
    const all = [key, group, tenant]
    const first = await granted(take(all))
    await first.hold(80)
    first.settle(80)
    const second = await granted(take(all))
    expect(await second.hold(50)).toEqual({
      granted: false,
      scope: 'tenant',
      limit: 'tokens',
      allowed: 100,
      retryAfterMs: 18_000,
      requests: { limit: 10, remaining: 9, resetMs: 6_000 },
      tokens: { limit: 100, remaining: 20, resetMs: 48_000 },
    })
    // The end of the request, which comes later, changes nothing any more.
    second.settle(1_000)
    second.giveBack()
    const third = await granted(take(all))
    expect(third).toMatchObject({ requests: { remaining: 8 }, tokens: { remaining: 20 } })
    expect(await third.hold(20)).toMatchObject({ granted: true, tokens: { remaining: 0 } })
    expect(await take([group])).toMatchObject({ tokens: { remaining: 4_900 } })
  })

  test('a request that is given back was never counted', async () => {
    const key = scopeOf({ requestsPerMinute: 1, tokensPerMinute: 100, concurrency: 1 })
    for (let repeat = 0; repeat < 3; repeat++) {
      const lease = await granted(take([key]))
      if (repeat > 0) await lease.hold(100)
      lease.giveBack()
      lease.giveBack()
      lease.settle(50)
    }
    expect(await take([key], 100)).toMatchObject({
      granted: true,
      requests: { remaining: 0 },
      tokens: { remaining: 0 },
    })
  })

  test('a request that ends while its tokens are decided holds none of them', async () => {
    const key = scopeOf({ tokensPerMinute: 1_000, concurrency: 5 })
    const lease = await granted(take([key]))
    const holding = lease.hold(900)
    lease.settle(0)
    expect(await holding).toMatchObject({ granted: true })
    await expect.poll(async () => (await granted(take([key]))).tokens?.remaining).toBe(1_000)
  })

  test('a first decision without tokens is refused only where more of them are used than the limit', async () => {
    const key = scopeOf({ tokensPerMinute: 60 })
    const lease = await granted(take([key]))
    await lease.hold(60)
    await granted(take([key]))
    lease.settle(61)
    expect(await take([key])).toMatchObject({ granted: false, limit: 'tokens', retryAfterMs: second })
  })

  test('a key, a group and a tenant of the same id have nothing in common', async () => {
    const key = scopeOf({ requestsPerMinute: 1, concurrency: 1 }, 'key')
    await granted(take([key]))
    await granted(take([{ ...key, kind: 'group' }]))
    await granted(take([{ ...key, kind: 'tenant' }]))
  })
})

test('all backends decide the same in any order of calls', async () => {
  const all = backends()
  for (const backend of all) await backend.start()
  const random = seeded(7)
  const pick = (most: number) => random.upTo(most)
  const limit = (most: number) => (pick(3) === 0 ? undefined : pick(most))
  const scopes = Array.from({ length: 6 }, (_, index) =>
    scopeOf(
      { requestsPerMinute: limit(40), tokensPerMinute: limit(5_000), concurrency: limit(8) },
      (['key', 'group', 'tenant'] as const)[index % 3],
    ),
  )
  const opened = await Promise.all(all.map((backend) => backend.open()))
  let leases: LimitLease[][] = []
  let refusals = 0
  for (let step = 0; step < 1_500; step++) {
    const passed = pick(4) === 0 ? pick(5_000) : pick(20)
    for (const { pass } of opened) pass(passed)
    if (pick(2) === 0 && leases.length > 0) {
      const tokens = pick(2_000)
      const [ended] = leases.splice(pick(leases.length - 1), 1)
      for (const lease of ended ?? []) lease.settle(tokens)
      continue
    }
    if (pick(3) === 0 && leases.length > 0) {
      const tokens = pick(1_500)
      const [asking] = leases.splice(pick(leases.length - 1), 1)
      const held = []
      for (const lease of asking ?? []) held.push(await lease.hold(tokens))
      for (const one of held) expect(one, `step ${step}`).toEqual(held[0])
      if (held[0]?.granted === true && asking !== undefined) leases = [...leases, asking]
      continue
    }
    const chosen = scopes.filter(() => pick(1) === 0)
    const tokens = pick(1_500)
    const decisions: Decision[] = []
    for (const { limits } of opened) decisions.push(await limits.take(chosen, tokens, `request ${step}`))
    for (const decision of decisions) {
      expect(withoutSettle(decision), `step ${step}`).toEqual(withoutSettle(decisions[0]))
    }
    const taken = decisions.filter((decision) => decision.granted)
    if (taken.length > 0) leases = [...leases, taken]
    else refusals++
  }
  expect(refusals).toBeGreaterThan(100)
  for (const backend of all) await backend.stop()
})

function withoutSettle(decision: Decision | undefined): object {
  return { ...decision, settle: undefined }
}
