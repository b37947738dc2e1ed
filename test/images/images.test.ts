import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  freeKey,
  type ImageTestbed,
  type Job,
  otherKey,
  paidKey,
  startImageTestbed,
} from '../support/image-testbed.ts'
import { png } from '../support/image-upstream.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { heardFrom } from '../support/raw-client.ts'
import { patienceMs } from '../support/until.ts'

describe.each(queueBackends())('images through the queue on %s, worker in another process', (backend) => {
  let bed: ImageTestbed
  beforeAll(async () => {
    bed = await startImageTestbed({ backend })
    await bed.startWorker()
  })
  afterAll(() => bed?.close())

  test('an SDK user who knows nothing of jobs gets an image as base64', async () => {
    const answer = await bed.openai.images.generate({ model: 'draw', prompt: 'a tree', size: '1024x1024' })
    expect(answer.data?.map(({ b64_json }) => b64_json)).toEqual([png('a tree 0').toString('base64')])
    expect(answer.data?.[0]?.revised_prompt).toBe('revised a tree')
    expect(answer.usage?.total_tokens).toBe(110)
    const asked = { model: 'upstream-draw', prompt: 'a tree', size: '1024x1024' }
    expect(bed.upstream.calls.at(-1)).toMatchObject({
      body: asked,
      authorization: 'Bearer upstream-credential-0001',
    })
  })

  test('an SDK user who wants a link gets one, and it leads to the image without a key', async () => {
    const answer = await bed.openai.images.generate({
      model: 'draw',
      prompt: 'a link',
      response_format: 'url',
    })
    const url = answer.data?.[0]?.url ?? ''
    const image = await fetch(url)
    expect(image.status).toBe(200)
    expect(image.headers.get('content-type')).toBe('image/png')
    const [, keep] =
      /^private, max-age=(\d+), immutable$/.exec(image.headers.get('cache-control') ?? '') ?? []
    const left = Number(new URL(url).searchParams.get('expires')) - Date.now() / 1000
    // A cache keeps the image no longer than its link is good.
    expect(Number(keep)).toBeGreaterThan(0)
    expect(Number(keep)).toBeLessThan(left + 2)
    expect(Buffer.from(await image.arrayBuffer())).toEqual(png('a link 0'))
    const forged = await fetch(url.replace(/signature=.{4}/, 'signature=AAAA'))
    expect(forged.status).toBe(403)
  })

  test('a process that hides channels tells of none in a job, its list and its events', async () => {
    const id = await bed.submit({ model: 'draw', prompt: 'hidden' })
    expect((await bed.ended(id)).attempts).toMatchObject([{ channel: 'painter' }])
    const hiding = await bed.startApi({ ROUTING_HEADERS: 'hide' })
    for (const path of [`/${id}`, '', `/${id}/events`]) {
      const response = await fetch(`${hiding.url}/v1/images/generations${path}`, {
        headers: { authorization: `Bearer ${freeKey}` },
      })
      expect(response.headers.get('cache-control')).toBe('no-store')
      const text = await response.text()
      expect(text).toContain(id)
      expect(text).toContain('"attempts":[]')
      expect(text).not.toContain('painter')
    }
  })

  test('images of megabytes come whole, as bytes and by link', async () => {
    const prompt = 'large bytes:3000000'
    const answer = await bed.openai.images.generate({ model: 'draw', prompt, n: 2 })
    const [first, second] = (answer.data ?? []).map(({ b64_json = '' }) => Buffer.from(b64_json, 'base64'))
    expect(first?.equals(png(`${prompt} 0`.padEnd(3_000_000, '.')))).toBe(true)
    expect(second?.equals(png(`${prompt} 1`.padEnd(3_000_000, '.')))).toBe(true)
    const linked = await bed.openai.images.generate({ model: 'draw', prompt, response_format: 'url' })
    const image = await fetch(linked.data?.[0]?.url ?? '')
    expect(Buffer.from(await image.arrayBuffer()).equals(first ?? Buffer.alloc(0))).toBe(true)
  })

  test('a stream shows its previews before the image', async () => {
    const stream = await bed.openai.images.generate({
      model: 'draw',
      prompt: 'slowly',
      stream: true,
      partial_images: 2,
    })
    const events: string[] = []
    for await (const event of stream) {
      events.push(`${event.type} ${Buffer.from(event.b64_json, 'base64').subarray(png().length).toString()}`)
    }
    expect(events).toEqual([
      'image_generation.partial_image preview 0',
      'image_generation.partial_image preview 1',
      'image_generation.completed slowly 0',
    ])
  })

  test.each(['chat-draw', 'responses-draw'])('%s makes two images by two chat calls', async (model) => {
    const answer = await bed.openai.images.generate({ model, prompt: `by ${model}`, n: 2 })
    expect(answer.data?.length).toBe(2)
    const bytes = Buffer.from(answer.data?.[1]?.b64_json ?? '', 'base64')
    expect(bytes.subarray(0, 8)).toEqual(png().subarray(0, 8))
    expect(bed.upstream.calls.filter(({ body }) => JSON.stringify(body).includes(`by ${model}`)).length).toBe(
      2,
    )
  })

  test('the job leaves one row with its body, its attempt and its cost', async () => {
    const asked = await bed.call('/v1/images/generations', {
      body: { model: 'draw', prompt: 'for the row', n: 2, quality: 'low', user: 'artist 1' },
      headers: { prefer: 'respond-async', 'x-tollgate-tags': 'b, a', 'x-tollgate-session': 's' },
    })
    const { id } = (await asked.json()) as { id: string }
    const job = await bed.ended(id)
    expect(job).toMatchObject({ status: 'succeeded', cost_nano_usd: '20000000', error: null })
    expect(job.result?.data.length).toBe(2)
    const row = await bed.row(id)
    expect(row).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      endpoint: '/v1/images/generations',
      client_protocol: 'openai-images',
      upstream_protocol: 'openai-images',
      channel: 'painter',
      cost_nano: '20000000',
      images: 2,
      output_tokens: 200,
      attempt_count: 1,
      end_user: 'artist 1',
      session: 's',
      tags: ['a', 'b'],
    })
    const found = await bed.call('/v1/usage/requests?tag=a&tag=b')
    expect(((await found.json()) as { data: { id: string }[] }).data.map((row) => row.id)).toEqual([id])
    const detail = await bed.call(`/v1/usage/requests/${id}`)
    const shown = (await detail.json()) as { body: string; cost_parts_nano_usd: object; images: number }
    expect(JSON.parse(shown.body)).toMatchObject({ prompt: 'for the row', n: 2 })
    expect(shown).toMatchObject({ images: 2, cost_parts_nano_usd: { image: '20000000' } })
    expect(await bed.differences()).toEqual([])
  })

  test.each([
    [{ size: '300x300' }, 'size'],
    [{ quality: 'best' }, 'quality'],
    [{ n: 5 }, 'n'],
    [{ partial_images: 1 }, 'partial_images'],
    [{ prompt: 7 }, 'prompt'],
    [{ model: 'words' }, 'model'],
    [{ model: 'nowhere' }, 'model'],
  ])('a request with %j is refused, naming %s, before anything is queued', async (wrong, field) => {
    const calls = bed.upstream.calls.length
    const answer = await bed.call('/v1/images/generations', {
      body: { model: 'draw', prompt: 'a', ...wrong },
    })
    const { error } = (await answer.json()) as { error: { param: string; message: string } }
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(error.param).toBe(field)
    expect(bed.upstream.calls.length).toBe(calls)
  })

  test('an upstream that fails twice is called a third time, and the client pays once', async () => {
    const id = await bed.submit({ prompt: 'again fail-first:2' })
    const job = await bed.ended(id)
    expect(job.status).toBe('succeeded')
    expect(job.attempts.map(({ status }) => status)).toEqual([500, 500, 200])
    expect(await bed.row(id)).toMatchObject({ attempt_count: 3, cost_nano: '40000000' })
  })

  test("a request that the upstream refuses is not tried again, costs nothing, and has the upstream's message", async () => {
    const answer = await bed.call('/v1/images/generations', {
      body: { model: 'draw', prompt: 'bad fail:400' },
    })
    expect(answer.status).toBe(400)
    const { error } = (await answer.json()) as { error: { message: string; code: string } }
    expect(error.message).toContain('made to fail with 400')
    expect(bed.upstream.count('bad fail:400')).toBe(1)
    const row = await bed.row(answer.headers.get('x-request-id') ?? '')
    expect(row).toMatchObject({ outcome: 'failed', cost_nano: '0', images: 0 })
  })

  test('bytes that are not an image are not delivered', async () => {
    const id = await bed.submit({ prompt: 'garbage' })
    const job = await bed.ended(id)
    expect(job).toMatchObject({ status: 'failed', result: null, error: { kind: 'upstream_error' } })
  })

  test('images behind links of an upstream are stored, and the client gets our links', async () => {
    const answer = await bed.openai.images.generate({ model: 'draw', prompt: 'links' })
    const url = answer.data?.[0]?.url ?? ''
    expect(url.startsWith(bed.api.url)).toBe(true)
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(png('linked'))
  })

  test('if there are fewer images than asked for, the client gets and pays for these', async () => {
    const id = await bed.submit({ prompt: 'fewer', n: 3 })
    const job = await bed.ended(id)
    expect(job.result?.data.length).toBe(2)
    expect(job.cost_nano_usd).toBe('80000000')
  })

  test('a tenant with ten cents never has more than two images of four made at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        bed.call('/v1/images/generations', {
          key: paidKey,
          body: { model: 'draw', prompt: 'money delay:300' },
          headers: { prefer: 'respond-async' },
        }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, ...Array(8).fill(402)])
    for (const answer of answers) {
      const job = (await answer.json()) as Job
      if (answer.status === 202) expect((await bed.ended(job.id, paidKey)).status).toBe('succeeded')
    }
    const [account] = await bed.database.sql`
      SELECT a.balance_nano, a.reserved_nano FROM accounts a JOIN tenants t ON t.id = a.id WHERE t.name = 'paid'`
    expect(account).toMatchObject({ balance_nano: '20000000', reserved_nano: '0' })
    expect(await bed.differences()).toEqual([])
  })

  test('a client that has sent its request and leaves during the look-up of its key has one row and no job', async () => {
    const body = JSON.stringify({ model: 'draw', prompt: 'nobody waits' })
    const [before] = await bed.database.sql<{ now: Date }[]>`SELECT now()`
    await bed.database.sql.begin(async (sql) => {
      await sql`LOCK TABLE keys IN ACCESS EXCLUSIVE MODE`
      const socket = connect(bed.api.port, '127.0.0.1', () =>
        socket.end(
          `POST /v1/images/generations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${otherKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        ),
      )
      expect(await heardFrom(socket)).toBe('')
    })
    const since = () => bed.database.sql`SELECT * FROM requests WHERE created_at >= ${before?.now ?? null}`
    await expect
      .poll(since, { timeout: patienceMs })
      .toMatchObject([
        { status: 499, outcome: 'cancelled', stream_end: 'client_gone', endpoint: '/v1/images/generations' },
      ])
    const jobs = await bed.database.sql`SELECT id FROM jobs WHERE created_at >= ${before?.now ?? null}`
    expect(jobs).toHaveLength(0)
  })

  test('a tenant cannot see the job of another tenant', async () => {
    const id = await bed.submit({ prompt: 'mine' })
    const answer = await bed.call(`/v1/images/generations/${id}`, { key: paidKey })
    expect(answer.status).toBe(404)
    await bed.ended(id, freeKey)
  })

  test('the table of jobs has no plain text of a request, and no credential', async () => {
    const id = await bed.submit({ prompt: 'a word that is secretly planted' })
    const dump = JSON.stringify(
      await bed.database.sql`SELECT encode(request, 'escape') AS request, quote, opened FROM jobs`,
    )
    expect(dump).not.toContain('secretly planted')
    await bed.ended(id)
    const [row] = await bed.database.sql`SELECT request, body FROM jobs WHERE id = ${id}`
    expect(row).toEqual({ request: null, body: null })
  })
})
