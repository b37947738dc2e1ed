import { describe, expect, test } from 'vitest'
import { type Lease, type Refusal, unlimitedLease } from '../../src/limits/limits.ts'
import { memoryLimits } from '../../src/limits/memory.ts'

const none = { requestsPerMinute: undefined, tokensPerMinute: undefined, concurrency: undefined }
const second = 1000

function granted(decision: Lease | Refusal): Lease {
  if (!decision.granted) throw new Error(`refused by ${decision.limit}`)
  return decision
}

describe('limits in memory', () => {
  test('a key without limits gets one shared lease', () => {
    expect(memoryLimits().take('a', none, 1e9, 0)).toBe(unlimitedLease)
  })

  test('requests: a minute at once, then one at a time as they refill; refusals take nothing', () => {
    const limits = memoryLimits()
    const six = { ...none, requestsPerMinute: 6 }
    for (let i = 5; i >= 0; i--)
      expect(limits.take('a', six, 0, 0)).toMatchObject({ granted: true, remainingRequests: i })
    for (let i = 0; i < 3; i++) {
      expect(limits.take('a', six, 0, 4 * second)).toMatchObject({
        granted: false,
        limit: 'requests',
        retryAfterSeconds: 6,
        limitRequests: 6,
        remainingRequests: 0,
        resetRequestsMs: 56 * second,
      })
    }
    granted(limits.take('a', six, 0, 10 * second))
    expect(limits.take('a', six, 0, 10 * second).granted).toBe(false)
    granted(limits.take('b', six, 0, 10 * second))
  })

  test('the wait that a refusal names is enough', () => {
    const limits = memoryLimits()
    const odd = { ...none, requestsPerMinute: 7, tokensPerMinute: 130 }
    let nowMs = 0
    for (let i = 0; i < 200; i++) {
      const decision = limits.take('a', odd, 1 + (i % 100), nowMs)
      if (decision.granted) continue
      nowMs += decision.retryAfterSeconds * second
      granted(limits.take('a', odd, 1 + (i % 100), nowMs))
    }
  })

  test('tokens: the estimate is held, the truth replaces it', () => {
    const limits = memoryLimits()
    const thousand = { ...none, tokensPerMinute: 1000 }
    const first = granted(limits.take('a', thousand, 800, 0))
    expect(first).toMatchObject({ limitTokens: 1000, remainingTokens: 200, resetTokensMs: 48 * second })
    expect(limits.take('a', thousand, 300, 0)).toMatchObject({
      granted: false,
      limit: 'tokens',
      retryAfterSeconds: 6,
    })
    first.settle(100)
    const again = granted(limits.take('a', thousand, 900, 0))
    again.settle(1900)
    expect(limits.take('a', thousand, 1, 59 * second)).toMatchObject({ limit: 'tokens', remainingTokens: 0 })
    granted(limits.take('a', thousand, 1, 61 * second))
  })

  test('an estimate above the limit passes when the whole minute is free', () => {
    const limits = memoryLimits()
    granted(limits.take('a', { ...none, tokensPerMinute: 10 }, 500, 0)).settle(5)
    expect(limits.take('a', { ...none, tokensPerMinute: 10 }, 500, 0)).toMatchObject({
      retryAfterSeconds: 30,
    })
  })

  test('concurrency: a place is free again once its lease is settled, and settling twice frees one', () => {
    const limits = memoryLimits()
    const two = { ...none, concurrency: 2, requestsPerMinute: 100 }
    const first = granted(limits.take('a', two, 0, 0))
    granted(limits.take('a', two, 0, 0))
    expect(limits.take('a', two, 0, 0)).toMatchObject({
      limit: 'concurrency',
      retryAfterSeconds: 1,
      remainingRequests: 98,
    })
    first.settle(0)
    first.settle(0)
    granted(limits.take('a', two, 0, 0))
    expect(limits.take('a', two, 0, 0)).toMatchObject({ granted: false, limit: 'concurrency' })
  })

  test('a limit of 0 refuses everything', () => {
    for (const name of ['requestsPerMinute', 'tokensPerMinute', 'concurrency'] as const) {
      expect(memoryLimits().take('a', { ...none, [name]: 0 }, 0, 0).granted).toBe(false)
    }
  })

  test('a clock that is set back gives and takes nothing', () => {
    const limits = memoryLimits()
    const one = { ...none, requestsPerMinute: 1 }
    granted(limits.take('a', one, 0, 100 * second))
    expect(limits.take('a', one, 0, 0).granted).toBe(false)
    granted(limits.take('a', one, 0, 60 * second))
  })

  test('memory is bounded: idle keys are forgotten, running ones are not', () => {
    const limits = memoryLimits({ keysMax: 10 })
    const one = { ...none, concurrency: 1, requestsPerMinute: 1 }
    const running = granted(limits.take('running', one, 0, 0))
    for (let i = 0; i < 100; i++) granted(limits.take(`idle ${i}`, one, 0, i)).settle(0)
    granted(limits.take('idle 0', one, 0, 100))
    expect(limits.take('idle 99', one, 0, 100)).toMatchObject({ granted: false, limit: 'requests' })
    expect(limits.take('running', one, 0, 60 * second)).toMatchObject({
      granted: false,
      limit: 'concurrency',
    })
    running.settle(0)
    granted(limits.take('running', one, 0, 61 * second))
  })
})
