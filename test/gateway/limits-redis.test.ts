import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs } from '../support/until.ts'
import { body, keys, yaml } from './limited-keys.ts'

let bed: Testbed

describe('two processes on one Redis', () => {
  let redis: RedisServer
  let other: Gateway
  beforeAll(async () => {
    redis = await startRedis()
    const env = { REDIS_URL: redis.url, ROLE: 'api', LIMITS_MS: '1000' }
    bed = await startTestbed({ yaml, env })
    other = await startGateway({
      databaseUrl: bed.databaseUrl,
      gatewayYaml: yaml(bed.upstream.url),
      env: { SECRET_KEY: secretKey, ...env },
    })
  })
  afterAll(async () => {
    redis.resume()
    await other.stop()
    await bed.close()
    await redis.stop()
  })
  const ask = (url: string, key: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    })
  const limitsOf = async (url: string) => {
    const ready = await fetch(`${url}/readyz`)
    const { limits } = (await ready.json()) as { limits: string }
    return `${ready.status} ${limits}`
  }

  test('a thousand requests at once of one key: as many pass as its limit allows, and the upstream sees no more', async () => {
    const urls = [bed.tollgate.url, other.url]
    for (const url of urls) await expect.poll(() => limitsOf(url), { timeout: patienceMs }).toBe('200 shared')
    const since = Date.now()
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async (_, turn) => {
        const response = await ask(turn % 2 === 0 ? bed.tollgate.url : other.url, keys.rapid)
        await response.arrayBuffer()
        return response.status
      }),
    )
    // The limit refills two requests a second during the test.
    const refilled = Math.floor(((Date.now() - since) * 120) / 60_000)
    const passed = statuses.filter((status) => status === 200).length
    expect(passed).toBeGreaterThanOrEqual(120)
    expect(passed).toBeLessThanOrEqual(120 + refilled)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1_000 - passed)
    expect(bed.upstream.requests).toHaveLength(passed)
    expect(await limitsOf(bed.tollgate.url)).toBe('200 shared')
  })

  test('a request whose tokens are not limited asks Redis once, and one whose tokens are asks it twice', async () => {
    await expect.poll(() => limitsOf(bed.tollgate.url), { timeout: patienceMs }).toBe('200 shared')
    const client = new Redis(redis.url)
    const monitor = await client.monitor()
    onTestFinished(() => {
      monitor.disconnect()
      client.disconnect()
    })
    const seen: string[] = []
    monitor.on('monitor', (_time: string, [command = '', ...words]: string[]) => {
      if (/^eval(sha)?$/i.test(command)) seen.push(words.join(' '))
    })
    const namesOf = await bed.database.sql<{ id: string; name: string }[]>`SELECT id, name FROM keys`
    const asked = (name: string) => {
      const id = namesOf.find((key) => key.name === name)?.id ?? ''
      return seen.filter((words) => words.includes(`:key:${id}`)).length
    }
    expect((await ask(bed.tollgate.url, keys.repeating)).status).toBe(200)
    expect((await ask(bed.tollgate.url, keys.messages)).status).toBe(200)
    // The third command is the settlement, for which no one waits.
    await expect.poll(() => asked('messages'), { timeout: patienceMs }).toBe(3)
    expect(asked('repeating')).toBe(1)
  })

  test('while Redis is frozen each process goes on with half of the limit, no request gets a 500 or waits long; later both share it again', async () => {
    const urls = [bed.tollgate.url, other.url]
    for (const url of urls) expect(await limitsOf(url)).toBe('200 shared')
    redis.pause()
    const passed = await Promise.all(
      urls.map(async (url) => {
        let passed = 0
        for (;;) {
          const watch = startStopwatch()
          const response = await ask(url, keys.tokens)
          expect(watch.ms).toBeLessThan(4_000)
          await response.arrayBuffer()
          if (response.status === 429) return passed
          expect(response.status).toBe(200)
          passed++
        }
      }),
    )
    for (const own of passed) {
      expect(own).toBeGreaterThanOrEqual(9)
      expect(own).toBeLessThanOrEqual(12)
    }
    for (const url of urls) await expect.poll(() => limitsOf(url), { timeout: patienceMs }).toBe('200 local')
    redis.resume()
    for (const url of urls) await expect.poll(() => limitsOf(url), { timeout: patienceMs }).toBe('200 shared')
    expect((await ask(other.url, keys.tokens)).status).toBe(200)
    const log = other.stdout() + other.stderr()
    expect(log.match(/Redis does not answer in time/g)).toHaveLength(1)
    expect(log.match(/Redis is back/g)).toHaveLength(1)
  })
})
