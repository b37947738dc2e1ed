import { describe, expect, onTestFinished, test } from 'vitest'
import { breakableBackend } from '../queue/queue-bed.ts'
import { freeKey, imagesYaml, makeImageTestbed, paidKey } from '../support/image-testbed.ts'
import { allEnded, expectTruth } from '../support/image-truth.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

/** In the format of OpenAI's errors. */
const away = {
  type: 'server_error',
  code: 'unavailable',
  message: expect.stringMatching(/the database(,? which| that guards it)? is not responding/i),
}

describe.each(queueBackends())('with the queue on %s', (backend) => {
  test('Postgres dies and comes back: running and waiting jobs end once, and no job is accepted meanwhile', {
    timeout: 120_000,
  }, async () => {
    const postgres = await breakableBackend('postgres')
    const bed = await makeImageTestbed(startTollgate, {
      backend,
      databaseUrl: postgres.where.databaseUrl,
      env: { IMAGE_LEASE_MS: '1000', IMAGE_RUNS_MAX: '3', IMAGE_CONCURRENCY: '3', ADMIT_MS: '1000' },
      yaml: (url) => imagesYaml(url).replace('balance_usd: "0.10"', 'balance_usd: "1000"'),
    })
    onTestFinished(bed.close)
    await bed.startWorker()
    bed.upstream.hold()
    const wanted = new Map<string, number>()
    for (let i = 0; i < 6; i++) {
      wanted.set(await bed.submit({ prompt: `job ${i} held`, n: 2 }, i % 2 === 0 ? freeKey : paidKey), 2)
    }
    await expect.poll(() => bed.upstream.running(), { timeout: patienceMs, interval: 5 }).toBe(3)
    const [id = ''] = wanted.keys()

    await postgres.kill9()
    const image = { model: 'draw', prompt: 'not now' }
    const path = '/v1/images/generations'
    const refused = await Promise.all([
      bed.call(path, { body: image }),
      bed.call(path, { body: image, key: paidKey }),
      bed.call(path, { body: image, headers: { 'idempotency-key': 'not-now' } }),
      bed.call(path, { body: { ...image, stream: true } }),
      bed.call(`${path}/${id}`),
      bed.call(path),
      bed.call(`${path}/${id}`, { method: 'DELETE' }),
    ])
    const checks = refused.map(async (answer) => {
      const { error } = (await answer.json()) as { error: object }
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), error }
    })
    const expected = {
      status: 503,
      retryAfter: expect.stringMatching(/^\d+$/),
      error: expect.objectContaining(away),
    }
    expect(await Promise.all(checks)).toEqual(refused.map(() => expected))
    // The upstream answers while Postgres is down.
    bed.upstream.release()
    await expect.poll(() => bed.upstream.running(), { timeout: patienceMs, interval: 5 }).toBe(0)
    await postgres.restart()
    await allEnded(bed, [...wanted.keys()])
    await expectTruth(bed, wanted)
    expect(bed.upstream.count('not now')).toBe(0)

    const again = await bed.call(path, { body: image, headers: { 'idempotency-key': 'not-now' } })
    expect(again.status).toBe(200)
  })
})
