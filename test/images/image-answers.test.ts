import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { ringOf } from '../../src/canonical/key-ring.ts'
import { EventStream, endAnswer, writeTo } from '../../src/http/event-stream.ts'
import { HttpExchange } from '../../src/http/http-exchange.ts'
import { answerAtOnce } from '../../src/images/image-answer.ts'
import { sendFile } from '../../src/images/image-bytes.ts'
import { Jobs } from '../../src/jobs/jobs.ts'
import type { Books } from '../../src/pipeline/books.ts'
import { formatAt } from '../../src/pipeline/endpoints.ts'
import { arrive } from '../../src/pipeline/received.ts'
import { fileStorage } from '../../src/storage/files.ts'
import { ImageLinks } from '../../src/storage/links.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { type ImageTestbed, type Job, startImageTestbed } from '../support/image-testbed.ts'
import { patienceMs } from '../support/until.ts'

const path = '/v1/images/generations'
const stallMs = 200
const large = 32 * 1024 * 1024

describe('answers to requests that became jobs', () => {
  let bed: ImageTestbed
  beforeAll(async () => {
    bed = await startImageTestbed({ backend: 'postgres', env: { IMAGE_WAIT_MS: '30000' } })
    await bed.startWorker()
  })
  afterAll(() => bed?.close())

  const body = (prompt: string, more = {}) => ({ model: 'draw', prompt, ...more })
  /** The files of the newest job with this prompt. */
  async function filesOf(id: string): Promise<string[]> {
    const { sql } = bed.database
    const [row] = await sql<{ result: { images: { file: string }[] } }[]>`
      SELECT result::jsonb AS result FROM jobs WHERE id = ${id}`
    return (row?.result.images ?? []).map(({ file }) => join(bed.api.dataDir, 'images', file))
  }

  test('while the storage of made images is down, the client gets 202 and the job, so that it does not ask for a second one', async () => {
    const dataDir = brokenDataDir()
    const api = await bed.startApi({ DATA_DIR: dataDir })
    const answer = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer free-key-for-images-0001' },
      body: JSON.stringify(body('storage away')),
    })
    expect(answer.status).toBe(202)
    const job = (await answer.json()) as Job
    expect(job).toMatchObject({ status: 'succeeded', error: null })
    expect(answer.headers.get('location')).toBe(`${path}/${job.id}`)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(answer.headers.get('preference-applied')).toBeNull()
    expect(api.stdout() + api.stderr()).toContain('generated images cannot be read')
    expect(bed.upstream.count('storage away')).toBe(1)
  })

  test('only a client that asked not to wait gets preference-applied', async () => {
    const api = await bed.startApi({ IMAGE_WAIT_MS: '200' })
    const ask = (headers: Record<string, string>) =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer free-key-for-images-0001',
          ...headers,
        },
        body: JSON.stringify(body('hang')),
      })
    const [waited, heeded] = await Promise.all([ask({}), ask({ prefer: 'respond-async, wait=5' })])
    expect([waited.status, heeded.status]).toEqual([202, 202])
    expect(waited.headers.get('preference-applied')).toBeNull()
    expect(heeded.headers.get('preference-applied')).toBe('respond-async')
    for (const answer of [waited, heeded]) {
      const { id } = (await answer.json()) as Job
      await bed.call(`${path}/${id}`, { method: 'DELETE' })
    }
  })

  test.each([false, true])(
    'a repeat whose first image is gone is refused with 404, and its row says so; stream: %s',
    async (stream) => {
      const headers = { 'idempotency-key': `gone-${stream}` }
      const first = await bed.call(path, { body: body('gone', { stream }), headers })
      expect(first.status).toBe(200)
      await first.arrayBuffer()
      const [file = ''] = await filesOf(first.headers.get('x-request-id') ?? '')
      rmSync(file)
      const repeat = await bed.call(path, { body: body('gone', { stream }), headers })
      expect(repeat.status).toBe(404)
      const id = repeat.headers.get('x-request-id') ?? ''
      await vi.waitFor(async () => expect(await bed.row(id)).toMatchObject({ status: 404 }), {
        timeout: patienceMs,
      })
    },
  )

  test('an image that disappears after the headers breaks the answer off', async () => {
    const request = { body: body('two', { n: 2 }), headers: { 'idempotency-key': 'second-gone' } }
    const first = await bed.call(path, request)
    const { data } = (await first.json()) as { data: { b64_json: string }[] }
    expect(data.map(({ b64_json }) => Buffer.from(b64_json, 'base64').toString('latin1').slice(-5))).toEqual([
      'two 0',
      'two 1',
    ])
    const whole = await bed.call(path, request)
    expect(((await whole.json()) as { data: unknown }).data).toEqual(data)
    const [, file = ''] = await filesOf(first.headers.get('x-request-id') ?? '')
    rmSync(file)
    const cut = await bed.call(path, request)
    expect(cut.status).toBe(200)
    await expect(cut.text()).rejects.toThrow()
  })
})

describe('clients that do not read', () => {
  test('are disconnected in the middle of an image, and the file is closed', async () => {
    const directory = temporaryDirectory()
    const storage = fileStorage({ directory })
    const writer = storage.create()
    await writer.write(Buffer.alloc(large, 'x'))
    await writer.commit()
    const opened: { destroyed: boolean }[] = []
    const watched = {
      ...storage,
      async open(key: string) {
        const stored = await storage.open(key)
        if (stored !== undefined) opened.push(stored.stream)
        return stored
      },
    }
    await unread(async (_, response) => {
      await sendFile(watched, writer.key, response, { keepSeconds: 1, stallMs })
      expect(response.destroyed).toBe(true)
      expect(response.writableFinished).toBe(false)
      expect(opened.map(({ destroyed }) => destroyed)).toEqual([true])
    })
  })

  test('are disconnected while events wait for them, and later events are not encoded', async () => {
    await unread(async (_, response) => {
      const events = new EventStream(response, {}, { keepAliveMs: 1, clientStallMs: stallMs })
      let made = 0
      void events.send((write) => write('.'.repeat(large)))
      await events.send(async () => {
        made++
      })
      expect(response.destroyed).toBe(true)
      expect(made).toBe(0)
    })
  })

  test('are disconnected when only the end of an answer waits for them', async () => {
    await unread(async (_, response) => {
      response.write(Buffer.alloc(large))
      const closed = once(response, 'close')
      endAnswer(response, stallMs)
      await closed
      expect(response.writableFinished).toBe(false)
    })
  })

  test('a client that reads gets all of a large answer', async () => {
    const origin = await serve(async (_, response) => {
      for (let i = 0; i < 32; i++) await writeTo(response, Buffer.alloc(1024 * 1024), 20_000)
      endAnswer(response, 20_000)
    })
    expect((await (await fetch(origin)).arrayBuffer()).byteLength).toBe(large)
  })
})

describe('a database that does not answer', () => {
  test('is not an error after a job was accepted: the client gets 202 with the known facts', async () => {
    const warned: string[] = []
    const log = relayLog((_level, _fields, message) => void warned.push(message))
    const database = openDatabase('postgres://nobody@127.0.0.1:1/none')
    onTestFinished(() => database.close())
    const jobs = jobsOf(database, 300)
    const images = {
      storage: fileStorage({ directory: temporaryDirectory() }),
      links: new ImageLinks(Buffer.alloc(32), 60),
      webhookKeys: ringOf(Buffer.alloc(32)),
    }
    const id = '019a0000-0000-7000-8000-000000000001'
    const origin = await serve(async (request, response) => {
      const books = { publicUrl: undefined } as Books
      const { row } = arrive(books, Date.now(), formatAt(path), null)
      row.requestedModel = 'draw'
      const exchange = new HttpExchange(request, response)
      const received = { id, books, exchange, headers: { 'x-more': 'kept' }, row }
      await answerAtOnce({ jobs, images, log, showsRouting: true }, received)
    })
    const answer = await fetch(origin)
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({ id, object: 'image.generation', status: 'queued', model: 'draw' })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      location: `${path}/${id}`,
      'retry-after': '2',
      'preference-applied': 'respond-async',
      'x-request-id': id,
      'x-more': 'kept',
    })
    expect(warned).toEqual(['an accepted image job could not be read'])
  })

  test('makes a list, a sweep, a clean-up and a read reject unavailable in time, and none of them breaks another off', async () => {
    const { url, drop } = await freshDatabase()
    const [database, other] = [openDatabase(url, { admitMs: 2_000 }), openDatabase(url, { max: 1 })]
    onTestFinished(async () => {
      await Promise.all([database.close(), other.close()])
      await drop()
    })
    const jobs = jobsOf(database, 2_000)
    const scope = { tenantId: '019a0000-0000-7000-8000-000000000002', keyId: null }
    expect(
      await jobs.list(scope, { kind: 'image', before: scope.tenantId, state: 'queued', limit: 3 }),
    ).toEqual([])
    // A client that does not ask for types (db/array-types.ts) can reserve only an open connection.
    await other.sql`SELECT 1`
    const session = await other.sql.reserve()
    await session`BEGIN`
    await session`LOCK TABLE jobs`
    // Waits longer than they do.
    const patient = database.jobs.ask(({ sql }) => sql`SELECT id FROM jobs`, { withinMs: 60_000 })
    const hurried = await Promise.allSettled([
      jobs.list(scope, { kind: 'image', before: undefined, state: undefined, limit: 5 }),
      jobs.sweep(1000),
      jobs.removeBefore('image', new Date(0)),
      jobs.read([scope.tenantId]),
    ])
    expect(hurried.map((asked) => asked.status === 'rejected' && asked.reason.kind)).toEqual([
      'unavailable',
      'unavailable',
      'unavailable',
      'unavailable',
    ])
    await session`ROLLBACK`
    session.release()
    expect(await patient).toEqual([])
    expect(await jobs.read([scope.tenantId])).toEqual([])
  })
})

function jobsOf(database: ReturnType<typeof openDatabase>, waitMs: number): Jobs {
  const cipher = {
    encrypt: (text: string) => Buffer.from(text),
    decrypt: (encrypted: Buffer) => encrypted.toString(),
  }
  return new Jobs({ database, cipher, waitMs, queueWindow: 4, waitingMax: 10, leaseMs: 1000 })
}

async function serve(listener: (...parts: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => {
    listener(request, response).catch((error: unknown) => response.destroy(new Error(String(error))))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A client that sends a request and reads nothing. Resolves, or rejects, as the listener does. */
async function unread(listener: (...parts: Parameters<RequestListener>) => Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const origin = await serve(async (request, response) => {
    await listener(request, response).then(resolve, reject)
  })
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  await promise
}

/** Makes the images of these days unreadable, without making them missing. */
function brokenDataDir(): string {
  const dataDir = temporaryDirectory()
  const images = join(dataDir, 'images')
  mkdirSync(images)
  for (const days of [0, 1]) {
    writeFileSync(join(images, new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)), '')
  }
  return dataDir
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-image-answers-'))
  // A look of the storage may write there at this moment.
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
