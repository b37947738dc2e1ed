import { APIError } from 'openai'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  freeKey,
  type ImageTestbed,
  imagesYaml,
  type Job,
  otherKey,
  paidKey,
  startImageTestbed,
} from '../support/image-testbed.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { patienceMs } from '../support/until.ts'

const narrowKey = 'narrow-key-for-images-01'
const path = '/v1/images/generations'
const patient = { timeout: patienceMs, interval: 10 }

function yaml(upstreamUrl: string): string {
  const narrow = `      - { name: narrow, group: default, usage_scope: key, secret: ${narrowKey} }\n`
  return imagesYaml(upstreamUrl).replace('  - name: other\n', `${narrow}  - name: other\n`)
}

describe.each(queueBackends())('image jobs after their request, queue on %s', (backend) => {
  let bed: ImageTestbed
  beforeAll(async () => {
    bed = await startImageTestbed({ backend, yaml, env: { IMAGE_WAIT_MS: '700', KEEP_ALIVE_MS: '50' } })
  })
  afterAll(() => bed?.close())

  async function jobOf(answer: Response): Promise<Job> {
    return (await answer.json()) as Job
  }
  const get = async (id: string, key = freeKey) => await jobOf(await bed.call(`${path}/${id}`, { key }))
  const remove = (id: string, key = freeKey) => bed.call(`${path}/${id}`, { method: 'DELETE', key })
  const list = async (query: string, key = freeKey) => {
    const answer = await bed.call(`${path}?${query}`, { key })
    return (await answer.json()) as { data: Job[]; next_cursor: string | null; error: { param: string } }
  }
  const until = (id: string, status: string, key = freeKey) =>
    vi.waitFor(async () => expect((await get(id, key)).status).toBe(status), patient)

  describe('without a worker', () => {
    test('a client that asks not to wait gets 202 with the job, its address and the time to ask again', async () => {
      const answer = await bed.call(path, {
        body: { model: 'draw', prompt: 'first' },
        headers: { prefer: 'respond-async' },
      })
      const job = await jobOf(answer)
      expect(answer.status).toBe(202)
      expect(answer.headers.get('location')).toBe(`${path}/${job.id}`)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(answer.headers.get('x-request-id')).toBe(job.id)
      expect(job).toMatchObject({ status: 'queued', position: 1, attempts: [], result: null, error: null })
      expect(await get(await bed.submit({ prompt: 'second' }))).toMatchObject({
        status: 'queued',
        position: 2,
      })
    })

    test('a client that has waited for the longest time gets 202 with the job, too', async () => {
      const answer = await bed.call(path, { body: { model: 'draw', prompt: 'waits in vain' } })
      expect(answer.status).toBe(202)
      expect(await jobOf(answer)).toMatchObject({ status: 'queued', position: 3 })
    })

    test('a waiting job that is deleted is cancelled, costs nothing and frees its money', async () => {
      const id = await bed.submit({ prompt: 'deleted at once' }, paidKey)
      const account = () => bed.database.sql`
        SELECT a.balance_nano, a.reserved_nano FROM accounts a JOIN tenants t ON t.id = a.id WHERE t.name = 'paid'`
      expect(await account()).toMatchObject([{ balance_nano: '100000000', reserved_nano: '40000000' }])
      expect(await jobOf(await remove(id, paidKey))).toMatchObject({
        status: 'cancelled',
        cost_nano_usd: '0',
      })
      expect(await account()).toMatchObject([{ balance_nano: '100000000', reserved_nano: '0' }])
      expect(await bed.row(id)).toMatchObject({
        status: 499,
        outcome: 'cancelled',
        cost_nano: '0',
        attempt_count: 0,
      })
    })

    test('a repeat of its request is refused while it waits, and so are others beyond the bound', async () => {
      const env = { IMAGE_QUEUE_WINDOW: '1', IMAGE_WAITING_MAX: '1' }
      const narrow = await startImageTestbed({ backend, env })
      onTestFinished(narrow.close)
      const reasons: (string | null)[] = []
      for (const key of ['one', 'one', 'two', 'three']) {
        const headers = { prefer: 'respond-async', 'idempotency-key': key }
        const answer = await narrow.call(path, { body: { model: 'draw', prompt: 'repeated' }, headers })
        reasons.push(answer.headers.get('x-tollgate-reason'))
      }
      expect(reasons).toEqual([null, 'idempotent_job_running', null, 'image_queue_full'])
    })

    test('two clients that delete a job at once both see it cancelled, and it has one row', async () => {
      const id = await bed.submit({ prompt: 'deleted twice' })
      const answers = await Promise.all([remove(id), remove(id), remove(id)])
      for (const answer of answers) expect(await jobOf(answer)).toMatchObject({ status: 'cancelled' })
      expect(await bed.database.sql`SELECT status FROM requests WHERE id = ${id}`).toHaveLength(1)
    })

    test('a tenant cannot read, follow or delete the job of another tenant, or an unknown one', async () => {
      const id = await bed.submit({ prompt: 'private' })
      const unknown = '019a0000-0000-7000-8000-000000000000'
      for (const one of [id, unknown, 'no-uuid', '%27', `${id}0`]) {
        for (const options of [{ method: 'GET' }, { method: 'DELETE' }]) {
          expect((await bed.call(`${path}/${one}`, { ...options, key: paidKey })).status).toBe(404)
        }
        expect((await bed.call(`${path}/${one}/events`, { key: paidKey })).status).toBe(404)
      }
      expect(await get(id)).toMatchObject({ status: 'queued' })
    })

    test('the list has the newest job first, by pages and by status', async () => {
      const ids: string[] = []
      for (const prompt of ['l1', 'l2', 'l3']) ids.unshift(await bed.submit({ prompt }))
      const one = await list('limit=2')
      expect(one.data.map(({ id }) => id)).toEqual(ids.slice(0, 2))
      const two = await list(`limit=2&cursor=${one.next_cursor}`)
      expect(two.data[0]?.id).toBe(ids[2])
      const all: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`)
        all.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(all).toEqual([...all].sort().reverse())
      expect(new Set(all).size).toBe(all.length)
      const cancelled = await list('status=cancelled')
      expect(new Set(cancelled.data.map(({ status }) => status))).toEqual(new Set(['cancelled']))
      expect((await list('status=succeeded')).data).toEqual([])
    })

    test.each([
      ['cursor=x', 'cursor'],
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=1e1', 'limit'],
      ['status=done', 'status'],
      ['status=queued&status=running', 'status'],
      ['colour=red', 'colour'],
    ])('a list by %s is refused, naming %s', async (query, field) => {
      expect((await bed.call(`${path}?${query}`)).status).toBe(400)
      expect((await list(query)).error.param).toBe(field)
    })

    test('a key that may see only its own usage sees only its own jobs', async () => {
      const theirs = await bed.submit({ prompt: 'of the tenant' })
      const own = await bed.submit({ prompt: 'of the narrow key' }, narrowKey)
      expect((await list('', narrowKey)).data.map(({ id }) => id)).toEqual([own])
      expect((await bed.call(`${path}/${theirs}`, { key: narrowKey })).status).toBe(404)
      expect((await remove(theirs, narrowKey)).status).toBe(404)
      expect((await get(own)).status).toBe('queued')
    })

    test.each([
      ['drain', freeKey, 'queued'],
      ['abort', otherKey, 'cancelled'],
    ])(
      'a client that leaves while it waits, policy %s, with key %s: its job is %s',
      async (policy, key, status) => {
        const gone = new AbortController()
        const body = { model: 'draw', prompt: `left ${policy}` }
        const answer = bed.call(path, { body, key, signal: gone.signal }).catch(() => undefined)
        const job = await vi.waitFor(async () => {
          const [newest] = (await list('limit=1', key)).data
          expect(newest?.status).toBe('queued')
          const [row] = await bed.database.sql`SELECT body FROM jobs WHERE id = ${newest?.id ?? ''}`
          expect(row?.body).toContain(`left ${policy}`)
          return newest as Job
        }, patient)
        gone.abort()
        await answer
        await until(job.id, status, key)
      },
    )
  })

  describe('with a worker', () => {
    let waiting: string[]
    beforeAll(async () => {
      waiting = (await list('status=queued&limit=200')).data.map(({ id }) => id)
      await bed.startWorker()
    })

    test('jobs that waited for a worker run when it starts, even if their clients have left', async () => {
      expect(waiting.length).toBeGreaterThan(5)
      for (const id of waiting)
        expect(await bed.ended(id)).toMatchObject({ status: 'succeeded', position: null })
      expect(bed.upstream.count('left drain')).toBe(1)
      expect(bed.upstream.count('left abort') + bed.upstream.count('deleted at once')).toBe(0)
      expect(bed.upstream.count('deleted twice')).toBe(0)
    })

    test('a job shows its run, its attempts and its times, and its images can be fetched later', async () => {
      const answer = await bed.call(path, { body: { model: 'draw', prompt: 'late fail-first:1 delay:800' } })
      expect(answer.status).toBe(202)
      const { id } = await jobOf(answer)
      const job = await bed.ended(id)
      expect(job).toMatchObject({
        status: 'succeeded',
        attempts: [
          { channel: 'painter', status: 500, error: { kind: 'upstream_error' } },
          { channel: 'painter', status: 200, error: null },
        ],
      })
      const { latency_ms, created_at, started_at, finished_at } = job as unknown as Record<string, string> & {
        latency_ms: { queue: number; total: number }
      }
      expect(Date.parse(started_at ?? '') - Date.parse(created_at ?? '')).toBe(latency_ms.queue)
      expect(Date.parse(finished_at ?? '') - Date.parse(created_at ?? '')).toBe(latency_ms.total)
      expect(latency_ms.total).toBeGreaterThanOrEqual(1600)
      expect(latency_ms.queue).toBeLessThan(latency_ms.total - 1500)
      const row = await bed.row(id)
      expect(Math.abs(Number(row?.queue_ms) - latency_ms.queue)).toBeLessThan(50)
      expect((await fetch(job.result?.data[0]?.url ?? '')).status).toBe(200)
    })

    test('when a running job is deleted, its upstream call ends within a second, and the job is cancelled', async () => {
      const id = await bed.submit({ prompt: 'hang for delete' })
      await until(id, 'running')
      await vi.waitFor(() => expect(bed.upstream.count('hang for delete')).toBe(1), patient)
      const running = bed.upstream.running()
      expect((await remove(id)).status).toBe(200)
      const watch = startStopwatch()
      await vi.waitFor(() => expect(bed.upstream.running()).toBe(running - 1), patient)
      // A call that goes on until its timeout lasts for minutes.
      expect(watch.ms).toBeLessThan(6_000)
      expect(await bed.ended(id)).toMatchObject({ status: 'cancelled', error: null, result: null })
      expect(await bed.row(id)).toMatchObject({
        status: 499,
        outcome: 'cancelled',
        stream_end: 'client_gone',
      })
      expect(await jobOf(await remove(id))).toMatchObject({ status: 'cancelled' })
    })

    test('when a client with policy abort leaves, its running job is cancelled, with one row', async () => {
      const gone = new AbortController()
      const body = { model: 'draw', prompt: 'hang for leaving' }
      const answer = bed.call(path, { body, key: otherKey, signal: gone.signal }).catch(() => undefined)
      await vi.waitFor(() => expect(bed.upstream.count('hang for leaving')).toBe(1), patient)
      const [job] = (await list('limit=1', otherKey)).data
      gone.abort()
      await answer
      await until(job?.id ?? '', 'cancelled', otherKey)
      expect(await bed.database.sql`SELECT status FROM requests WHERE id = ${job?.id ?? ''}`).toMatchObject([
        { status: 499 },
      ])
    })

    test('an ended job that is deleted stays as it is', async () => {
      const id = await bed.submit({ prompt: 'done' })
      const job = await bed.ended(id)
      expect(await jobOf(await remove(id))).toMatchObject({
        status: 'succeeded',
        cost_nano_usd: job.cost_nano_usd,
      })
    })

    test('many jobs that are deleted while workers claim them end once each, with one row each', async () => {
      const ids = await Promise.all(
        Array.from({ length: 40 }, (_, i) => bed.submit({ prompt: `race ${i} delay:5` })),
      )
      const answers = await Promise.all(ids.map((id) => remove(id)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      const jobs = await Promise.all(ids.map((id) => bed.ended(id)))
      for (const { status } of jobs) expect(['succeeded', 'cancelled']).toContain(status)
      const rows = await bed.database.sql`SELECT id, outcome FROM requests WHERE id = ANY (${ids}::uuid[])`
      expect(rows.map(({ id, outcome }) => `${id} ${outcome}`).sort()).toEqual(
        jobs.map(({ id, status }) => `${id} ${status}`).sort(),
      )
      for (let i = 0; i < 40; i++) expect(bed.upstream.count(`race ${i} delay:5`)).toBeLessThanOrEqual(1)
      expect(await bed.differences()).toEqual([])
    })

    test('the events of a job show every state in order, the end last, and then the stream closes', async () => {
      const id = await bed.submit({ prompt: 'followed fail-first:1 delay:200' })
      const answer = await bed.call(`${path}/${id}/events`)
      expect(answer.headers.get('content-type')).toContain('text/event-stream')
      const states = await eventsOf(answer)
      const seen = states.map(({ event }) => event).filter((event, i, all) => event !== all[i - 1])
      expect(seen.at(-1)).toBe('succeeded')
      expect(seen).toContain('running')
      expect(seen.slice(0, -1).every((state) => state === 'queued' || state === 'running')).toBe(true)
      expect(states.filter(({ event }) => event === 'succeeded')).toHaveLength(1)
      expect(states.at(-1)?.job).toMatchObject({ id, status: 'succeeded' })
    })

    test('a job that has ended has one event', async () => {
      const id = await bed.submit({ prompt: 'followed too late fail:400' })
      await bed.ended(id)
      const events = await eventsOf(await bed.call(`${path}/${id}/events`))
      expect(events.map(({ event }) => event)).toEqual(['failed'])
    })

    test('an error of a stream reaches the SDK as an APIError with its message', async () => {
      const stream = await bed.openai.images.generate({ model: 'draw', prompt: 'fail:400', stream: true })
      const read = async () => {
        for await (const _ of stream);
      }
      const error = await read().then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(APIError)
      expect(String(error)).toContain('made to fail with 400')
    })

    test('a credential that the upstream quotes is never shown, neither while the job runs nor at its end', async () => {
      const credential = 'upstream-credential-0001'
      const id = await bed.submit({ prompt: 'quote fail:500 delay:300' })
      const early = await vi.waitFor(async () => {
        const job = await get(id)
        expect(job.attempts[0]?.error?.message).toContain('made to fail with 500 for')
        return job
      }, patient)
      expect(['queued', 'running']).toContain(early.status)
      const shown: unknown[] = [early, await bed.ended(id)]
      const refused = await bed.call(path, { body: { model: 'draw', prompt: 'quote fail:400' } })
      shown.push(await refused.json())
      for (const table of ['requests', 'attempts', 'jobs']) {
        shown.push(await bed.database.sql`SELECT * FROM ${bed.database.sql(table)}`)
      }
      expect(JSON.stringify(shown)).toContain('made to fail with 400 for')
      expect(JSON.stringify(shown)).not.toContain(credential)
      expect(bed.api.stderr() + bed.api.stdout()).not.toContain(credential)
    })
  })
})

/** All events until the end of the stream. */
async function eventsOf(answer: Response): Promise<{ event: string; job: Job }[]> {
  const frames = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('event: '))
  return frames.map((frame) => {
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? []
    return { event, job: JSON.parse(data) }
  })
}
