import { expect, onTestFinished, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { startRedis } from '../support/redis.ts'
import { patienceMs } from '../support/until.ts'
import { chatStream } from '../support/upstream-plans.ts'
import { startWire } from '../support/wire.ts'
import {
  adminToken,
  chatBody,
  chatPath,
  countedKey,
  expectEnd,
  expectRows,
  freeKey,
  paidKey,
  revokeColdKey,
  served,
  startDegradationBed,
} from './bed.ts'

const images = '/v1/images/generations'
/** The time that a busy machine may add to a bound. A hang takes longer. */
const slackMs = 5_000
const limitsMs = 100
/** `npm run chaos` tests the last one, because workers need 15 seconds to notice that they were forgotten. */
const ways = (['cut', 'freeze', 'forget'] as const).slice(0, amount('REDIS_BREAKS', { test: 2, chaos: 3 }))

test('while Redis is gone or frozen no client gets an error: each process limits its own requests, and images are made later', {
  timeout: 180_000,
}, async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const wire = await startWire(redis.url)
  const bed = await startDegradationBed({ env: { REDIS_URL: wire.url, LIMITS_MS: String(limitsMs) } })
  const mode = async () => ((await bed.call('/readyz')).json as { limits: string }).limits
  const ask = (key: string) => served(() => bed.call(chatPath, { body: chatBody, key }))
  await expect.poll(mode).toBe('shared')
  expect((await ask(countedKey)).status).toBe(200)

  for (const how of ways) {
    await wire[how]()
    const answers = await Promise.all([freeKey, countedKey, countedKey, countedKey, paidKey].map(ask))
    for (const answer of answers) {
      expect(answer.status, how).toBe(200)
      expect(answer.tookMs).toBeLessThan(limitsMs + slackMs)
    }
    const accepted = await bed.call(images, {
      body: { model: 'draw', prompt: 'a picture' },
      headers: { prefer: 'respond-async' },
    })
    expect(accepted.status).toBe(202)
    expect(accepted.tookMs).toBeLessThan(slackMs)
    if (how !== 'forget') {
      // The process gives Redis up after a few timeouts in a row.
      const modeAfterOne = async () => {
        expect((await ask(countedKey)).status).toBe(200)
        return await mode()
      }
      await expect.poll(modeAfterOne, { timeout: patienceMs, interval: 300 }).toBe('local')
      const pages = await bed.call('/admin/v1/queues', { headers: { authorization: `Bearer ${adminToken}` } })
      expect(pages).toMatchObject({ status: 503, retryAfter: '2' })
      expect((await bed.call('/readyz')).status).toBe(200)
    }
    await wire.mend()
    await expect.poll(mode, { timeout: patienceMs }).toBe('shared')
    await expect
      .poll(async () => (await bed.call(`${images}/${accepted.requestId}`)).json, { timeout: patienceMs })
      .toMatchObject({ status: 'succeeded' })
  }

  // Wherever requests are counted, there is a limit: at most twice as many when Redis is slow for some of them.
  const all = await Promise.all(Array.from({ length: 400 }, () => ask(countedKey)))
  const statuses = all.map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  const pages = await bed.call('/admin/v1/queues', { headers: { authorization: `Bearer ${adminToken}` } })
  expect(pages.status).toBe(200)
})

test('while Redis is frozen a revoked key is refused, and SIGTERM ends the process as usual', async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const wire = await startWire(redis.url)
  const bed = await startDegradationBed({ env: { REDIS_URL: wire.url, LIMITS_MS: String(limitsMs) } })
  expect((await served(() => bed.call(chatPath, { body: chatBody, key: countedKey }))).status).toBe(200)
  wire.freeze()
  await revokeColdKey(bed)
  const held = Promise.withResolvers<void>()
  bed.upstream.script((request) => {
    const plan = chatStream(request)
    return { ...plan, chunks: [{ waitFor: held.promise }, ...(plan.chunks as Iterable<string>)] }
  })
  const running = bed.call(chatPath, { body: { ...chatBody, stream: true }, key: countedKey })
  await bed.upstream.arrived(2)
  const ended = expectEnd(bed)
  held.resolve()
  const answer = await running
  expect(answer.text).toContain('[DONE]')
  await ended
  await expectRows(bed.database, [answer.requestId])
})

test('while Redis is down the process limits its keys by itself, and can start', async () => {
  const redis = await startRedis()
  onTestFinished(redis.stop)
  const wire = await startWire(redis.url)
  await wire.cut()
  const bed = await startDegradationBed({
    env: { REDIS_URL: wire.url, LIMITS_MS: String(limitsMs), ROLE: 'api' },
  })
  expect((await bed.call('/readyz')).json).toMatchObject({ status: 'ready', limits: 'local' })
  const all = await Promise.all(
    Array.from({ length: 200 }, () => bed.call(chatPath, { body: chatBody, key: countedKey })),
  )
  expect(all.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(120)
  const refused = all.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(10)
  for (const { status, retryAfter } of refused) {
    expect(status).toBe(429)
    expect(Number(retryAfter)).toBeGreaterThan(0)
  }
  await wire.mend()
  await expect
    .poll(async () => (await bed.call('/readyz')).json, { timeout: patienceMs })
    // This process decided all of them by itself.
    .toMatchObject({ limits: 'shared', limits_decided_locally: 200 })
})
