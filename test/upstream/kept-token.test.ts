import { beforeEach, expect, test } from 'vitest'
import { KeptToken, type Token } from '../../src/upstream/kept-token.ts'
import { manualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

/** Tokens that are kept in memory, and the source that hands them out. */

interface NumberedToken extends Token {
  number: number
}

const minutes = 60_000
let clock: ReturnType<typeof manualClock>
let fetches: PromiseWithResolvers<NumberedToken>[]
let kept: KeptToken<NumberedToken>

beforeEach(() => {
  clock = manualClock()
  fetches = []
  kept = new KeptToken(() => {
    const fetch = Promise.withResolvers<NumberedToken>()
    fetches.push(fetch)
    return fetch.promise
  }, clock)
})

const forEver = { signal: new AbortController().signal }
const get = async (call = forEver) => await kept.get(call)
const answer = (lifeMs: number | undefined) => {
  const expiresAt = lifeMs === undefined ? undefined : clock.now() + lifeMs
  fetches.at(-1)?.resolve({ number: fetches.length, expiresAt })
}
const first = async (lifeMs: number | undefined) => {
  const waiting = get()
  answer(lifeMs)
  return await waiting
}

test('it is fetched once for all who wait', async () => {
  const waiting = Array.from({ length: 200 }, () => get())
  answer(60 * minutes)
  expect(new Set((await Promise.all(waiting)).map(({ number }) => number))).toEqual(new Set([1]))
  expect(fetches).toHaveLength(1)
})

test('who leaves ends only its own wait', async () => {
  const leaving = new AbortController()
  const [left, stays] = [get({ signal: leaving.signal }), get()]
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  answer(60 * minutes)
  expect(await stays).toMatchObject({ number: 1 })
})

test('nobody waits for a token that can be used', async () => {
  await first(60 * minutes)
  clock.pass(54 * minutes)
  expect(kept.get(forEver)).toMatchObject({ number: 1 })
  expect(fetches).toHaveLength(1)
})

test('it is renewed once in its last five minutes, while it is still used', async () => {
  await first(60 * minutes)
  clock.pass(56 * minutes)
  for (let turn = 0; turn < 200; turn++) expect(kept.get(forEver)).toMatchObject({ number: 1 })
  expect(fetches).toHaveLength(2)
  answer(60 * minutes)
  await until(
    () => !(kept.get(forEver) instanceof Promise) && (kept.get(forEver) as NumberedToken).number === 2,
  )
})

test('a renewal that fails is tried again half a minute later, and the old token is used until it ends', async () => {
  await first(60 * minutes)
  clock.pass(56 * minutes)
  expect(kept.get(forEver)).toMatchObject({ number: 1 })
  const refusal = Promise.resolve()
  fetches.at(-1)?.reject(new Error('throttled'))
  await refusal
  await until(() => {
    clock.pass(1_000)
    expect(kept.get(forEver)).toMatchObject({ number: 1 })
    return fetches.length === 3
  })
})

test('one that has ended is not used: all wait for the next', async () => {
  await first(60 * minutes)
  clock.pass(60 * minutes)
  const waiting = Array.from({ length: 200 }, () => get())
  expect(fetches).toHaveLength(2)
  answer(60 * minutes)
  for (const token of await Promise.all(waiting)) expect(token).toMatchObject({ number: 2 })
})

test('one that does not end is never fetched again', async () => {
  await first(undefined)
  clock.pass(1_000_000 * minutes)
  expect(kept.get(forEver)).toMatchObject({ number: 1 })
})

test('a failure is the answer for all who wait and for a second, then the source is asked again', async () => {
  const waiting = Array.from({ length: 200 }, () => get())
  fetches.at(-1)?.reject(new Error('refused'))
  for (const one of await Promise.allSettled(waiting))
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'refused' } })
  await expect(get()).rejects.toThrow('refused')
  expect(fetches).toHaveLength(1)
  clock.pass(1_001)
  expect(await first(60 * minutes)).toMatchObject({ number: 2 })
})
