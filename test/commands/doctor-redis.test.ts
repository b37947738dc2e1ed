import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type DoctorBed, startDoctorBed } from '../support/doctor-bed.ts'
import { startRedis } from '../support/redis.ts'

let bed: DoctorBed
beforeAll(async () => {
  bed = await startDoctorBed()
})
afterAll(() => bed.close())

async function diagnose(url: string) {
  const found = await bed.diagnose({ REDIS_URL: url })
  expect(found.text).not.toContain('hunter2')
  return found
}

test('a Redis that evicts when its memory is full is wrong, and one that has no bound yet is a warning', async () => {
  const evicting = ['--maxmemory-policy', 'allkeys-lru']
  const bounded = await startRedis({ settings: [...evicting, '--maxmemory', '64mb'] })
  onTestFinished(() => bounded.stop())
  const wrong = await diagnose(bounded.url)
  expect(wrong.wrong, wrong.text).toEqual(['redis.policy'])
  expect(wrong.finding('redis.policy')).toMatchObject({ run: expect.stringContaining('noeviction') })
  const unbounded = await startRedis({ settings: evicting })
  onTestFinished(() => unbounded.stop())
  const warned = await diagnose(unbounded.url)
  expect(warned).toMatchObject({ code: 0, wrong: [], warnings: expect.arrayContaining(['redis.policy']) })
})

test('a Redis with a password: right is well, wrong and none are wrong, each without the password', async () => {
  const redis = await startRedis({ password: 'hunter2' })
  onTestFinished(() => redis.stop())
  expect(await diagnose(redis.url)).toMatchObject({ code: 0, wrong: [] })
  const { host } = new URL(redis.url)
  expect(await diagnose(`redis://${host}`)).toMatchObject({ code: 1, wrong: ['redis.authentication'] })
  expect(await diagnose(`redis://:hunter2-no@${host}`)).toMatchObject({
    code: 1,
    wrong: ['redis.authentication'],
  })
})

test('a Redis that is down, or hangs, each has its own words', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  redis.pause()
  expect(await diagnose(redis.url)).toMatchObject({ code: 1, wrong: ['redis.silent'] })
  await redis.kill9()
  expect(await diagnose(redis.url)).toMatchObject({ code: 1, wrong: ['redis.refused'] })
  expect(await diagnose('redis://no-such-host.invalid')).toMatchObject({ code: 1, wrong: ['redis.name'] })
})
