import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Gateway } from '../support/gateway.ts'
import { freeKey, type ImageTestbed, type Job, paidKey, startImageTestbed } from '../support/image-testbed.ts'
import { png } from '../support/image-upstream.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { patienceMs } from '../support/until.ts'

const path = '/v1/images/generations'
const patient = { timeout: patienceMs, interval: 20 }

interface Received {
  path: string
  method: string
  headers: IncomingHttpHeaders
  body: string
  /** Resolves when the other side has closed the connection. */
  closed: Promise<void>
}

/** A client's server. The path lists its answers in order, the last one forever: `/500,200/name`. */
async function startReceiver() {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url = '', method = '', headers } = request
    const before = received.filter((one) => one.path === url).length
    received.push({ path: url, method, headers, body: Buffer.concat(chunks).toString(), closed })
    const [, plan = ''] = url.split('/')
    const statuses = plan.split(',')
    const status = statuses[Math.min(before, statuses.length - 1)] ?? ''
    if (status === 'silent') return
    if (status === 'endless') {
      response.writeHead(200).write('and so on')
      return
    }
    response.writeHead(Number(status), { location: `/200/followed-from${url}` }).end('heard')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    /** The deliveries whose path ends with the name. */
    of: (name: string) => received.filter((one) => one.path.endsWith(name)),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

describe.each(queueBackends())('webhooks, queue on %s', (backend) => {
  let bed: ImageTestbed
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let worker: Gateway
  const settings = {
    WEBHOOK_MS: '1500',
    WEBHOOK_TRIES_MAX: '3',
    WEBHOOK_BACKOFF_MS: '30',
    IMAGE_SWEEP_MS: '60',
  }
  beforeAll(async () => {
    receiver = await startReceiver()
    bed = await startImageTestbed({ backend, env: settings })
    worker = await bed.startWorker({ WEBHOOK_PRIVATE_ADDRESSES: 'refuse' })
  })
  afterAll(async () => {
    await bed?.close()
    await receiver?.close()
  })

  async function submit(url: string, prompt: string, key = freeKey): Promise<string> {
    const headers = { prefer: 'respond-async', 'x-tollgate-webhook': url }
    const answer = await bed.call(path, { key, headers, body: { model: 'draw', prompt } })
    const job = (await answer.json()) as Job
    if (answer.status !== 202) throw new Error(JSON.stringify(job))
    return job.id
  }
  /** The job's webhook, after its end. */
  const settled = (id: string) =>
    vi.waitFor(async () => {
      const job = (await (await bed.call(`${path}/${id}`)).json()) as Job
      expect(['delivered', 'failed']).toContain(job.webhook?.status)
      return job.webhook
    }, patient)
  async function verify({ headers, body }: Received, key = freeKey): Promise<void> {
    const answer = await bed.call('/v1/images/webhook-secret', { key })
    const { secret } = (await answer.json()) as { secret: string }
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/)
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(signed)
    expect(headers['webhook-signature']).toBe(`v1,${mac.digest('base64')}`)
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
  }

  test.each([
    ['an address', () => receiver.origin],
    ['a name', () => `http://localhost:${receiver.port}`],
  ])(
    'a private address, given as %s, is called only if that is allowed; the log says so without the URL',
    async (_, origin) => {
      const id = await submit(`${origin()}/200/refused?token=planted-in-the-url`, 'refused')
      expect(await settled(id)).toEqual({ status: 'failed', tries: 1 })
      expect(receiver.of('refused?token=planted-in-the-url')).toEqual([])
      const log = worker.stdout() + worker.stderr()
      expect(log).toContain('WEBHOOK_PRIVATE_ADDRESSES=allow')
      expect(log).not.toContain('planted-in-the-url')
    },
  )

  test("one POST delivers the job, signed with the tenant's own secret, also to an allowed private address", async () => {
    await worker.stop()
    worker = await bed.startWorker()
    const id = await submit(`${receiver.origin}/200/told?a=1`, 'told')
    expect(await settled(id)).toEqual({ status: 'delivered', tries: 1 })
    const [delivery, ...more] = receiver.of('told?a=1')
    if (delivery === undefined) throw new Error('nothing came')
    expect(more).toEqual([])
    expect(delivery).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-id': `msg_${id}` },
    })
    await verify(delivery)
    const { type, data } = JSON.parse(delivery.body) as { type: string; data: Job }
    expect(type).toBe('image.generation.succeeded')
    expect(data).toMatchObject({ id, status: 'succeeded', cost_nano_usd: '40000000' })
    const image = await fetch(data.result?.data[0]?.url ?? '')
    expect(Buffer.from(await image.arrayBuffer())).toEqual(png('told 0'))
  })

  test('each tenant has its own secret, and failed and cancelled jobs are delivered too', async () => {
    const failed = await submit(`${receiver.origin}/200/failed`, 'fail:400')
    const cancelled = await submit(`${receiver.origin}/200/cancelled`, 'hang to be cancelled', paidKey)
    await vi.waitFor(() => expect(bed.upstream.count('hang to be cancelled')).toBe(1), patient)
    await bed.call(`${path}/${cancelled}`, { method: 'DELETE', key: paidKey })
    const [toldFailed, toldCancelled] = await vi.waitFor(() => {
      const [one] = receiver.of('/failed')
      const [two] = receiver.of('/cancelled')
      if (one === undefined || two === undefined) throw new Error('not yet')
      return [one, two]
    }, patient)
    expect(JSON.parse(toldFailed.body)).toMatchObject({
      type: 'image.generation.failed',
      data: { id: failed },
    })
    expect(JSON.parse(toldCancelled.body)).toMatchObject({
      type: 'image.generation.cancelled',
      data: { id: cancelled },
    })
    await verify(toldFailed)
    await verify(toldCancelled, paidKey)
    await expect(verify(toldCancelled)).rejects.toThrow()
  })

  test('a delivery that the receiver does not accept is repeated as the same message', async () => {
    const id = await submit(`${receiver.origin}/500,429,204/again`, 'again')
    expect(await settled(id)).toEqual({ status: 'delivered', tries: 3 })
    const deliveries = receiver.of('/again')
    expect(deliveries.map(({ headers }) => headers['webhook-id'])).toEqual(Array(3).fill(`msg_${id}`))
    for (const delivery of deliveries) await verify(delivery)
  })

  test.each([
    ['never takes it', '503', 3],
    ['says that it is gone', '410', 1],
    ['sends it elsewhere', '302', 3],
    ['does not answer', 'silent', 3],
  ])('a worker gives up a receiver that %s, and the job says so', async (_, plan, tries) => {
    const id = await submit(`${receiver.origin}/${plan}/given-up`, `given up ${plan}`)
    expect(await settled(id)).toEqual({ status: 'failed', tries })
    const deliveries = receiver.of(`/${plan}/given-up`)
    expect(deliveries).toHaveLength(tries)
    await Promise.all(deliveries.map(({ closed }) => closed))
    expect(receiver.of(`followed-from/${plan}/given-up`)).toEqual([])
    expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
  })

  test('an answer that never ends counts as accepted, and the worker closes its connection', async () => {
    const id = await submit(`${receiver.origin}/endless/one`, 'endless')
    expect(await settled(id)).toEqual({ status: 'delivered', tries: 1 })
    await receiver.of('/endless/one')[0]?.closed
  })

  test('a receiver that cannot be reached is tried as often, and then given up', async () => {
    const id = await submit('http://127.0.0.1:1/nobody', 'nobody')
    expect(await settled(id)).toEqual({ status: 'failed', tries: 3 })
  })

  test('a webhook to an address that is never called is refused before anything is queued', async () => {
    const strict = await bed.startApi({ WEBHOOK_PRIVATE_ADDRESSES: 'refuse' })
    const ask = async (base: string, url: string) => {
      const answer = await fetch(base + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${freeKey}`,
          'content-type': 'application/json',
          'x-tollgate-webhook': url,
        },
        body: JSON.stringify({ model: 'draw', prompt: 'never called' }),
      })
      return { status: answer.status, body: await answer.json() }
    }
    const never = ['http://169.254.169.254/latest', 'http://[fd00:ec2::254]/', 'https://0.0.0.0/']
    // The first is 127.0.0.1 as one number.
    const hidden = ['http://2130706433/', 'http://127.0.0.1:1/', 'http://10.0.0.1/', 'http://[::1]/']
    const refused = [
      ...never.map((url) => ({ base: bed.api.url, url })),
      ...[...never, ...hidden].map((url) => ({ base: strict.url, url })),
    ]
    for (const { base, url } of refused) {
      expect(await ask(base, url), url).toMatchObject({
        status: 400,
        body: { error: { param: 'x-tollgate-webhook', message: expect.stringContaining('are not sent to') } },
      })
    }
    expect(bed.upstream.count('never called')).toBe(0)
    // A delivery checks what a name resolves to.
    expect(await ask(strict.url, 'http://localhost:1/')).toMatchObject({ status: 200 })
  })

  test.each([
    ['what is not a URL', 'nowhere'],
    ['another protocol', 'ftp://example.com/'],
    ['a URL with a password', 'http://user:word@example.com/'],
    ['a URL that is too long', `http://example.com/${'a'.repeat(2050)}`],
  ])('a webhook to %s is refused before anything is queued', async (_, url) => {
    const answer = await bed.call(path, {
      body: { model: 'draw', prompt: 'refused at once' },
      headers: { 'x-tollgate-webhook': url },
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'x-tollgate-webhook' } })
    expect(bed.upstream.count('refused at once')).toBe(0)
  })

  test('no table holds the URL of a webhook in plain text', async () => {
    const tables = await bed.database.sql<{ name: string }[]>`
      SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
    expect(tables.length).toBeGreaterThan(10)
    for (const { name } of tables) {
      const [found] = await bed.database.sql.unsafe(
        `SELECT count(*)::integer AS rows FROM ${name} t WHERE t::text LIKE '%given-up%' OR t::text LIKE '%planted-in%'
           OR t::text LIKE '%' || encode('given-up', 'hex') || '%'`,
      )
      expect({ name, ...found }).toEqual({ name, rows: 0 })
    }
  })
})
