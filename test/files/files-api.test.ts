import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reasonOf } from '../support/reason-of.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { type FilesBed, keys, makeFilesBed, note, pdf, png, upload } from './bed.ts'

/** Files that clients upload, read and delete, by the vendor's own SDK. */

let bed: FilesBed<TollgateProcess>
beforeAll(async () => {
  bed = await makeFilesBed(startTollgate, { FILE_BYTES_MAX: '1000000', FILE_DAYS: '7' })
})
afterAll(() => bed.close())

const daySeconds = 86_400

test('a file comes back as it went, by every call of the SDK', async () => {
  const client = bed.openai()
  const made = await client.files.create({ file: await toFile(pdf, 'Über uns.pdf'), purpose: 'assistants' })
  expect(made).toMatchObject({
    object: 'file',
    bytes: pdf.length,
    filename: 'Über uns.pdf',
    purpose: 'assistants',
    status: 'processed',
  })
  expect(made.expires_at).toBeCloseTo(made.created_at + 7 * daySeconds, -1)
  expect(await client.files.retrieve(made.id)).toEqual(made)
  const content = await client.files.content(made.id)
  expect(Buffer.from(await content.arrayBuffer()).equals(pdf)).toBe(true)
  expect(content.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await client.files.delete(made.id)).toEqual({ id: made.id, object: 'file', deleted: true })
  await expect(client.files.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  await expect(client.files.content(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  await expect(client.files.delete(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  await until(async () => (await objects()).length === 0)
})

test('a list goes on from page to page, in both orders, and of one purpose', async () => {
  const client = bed.openai(keys.b)
  const ids: string[] = []
  for (const name of ['1.txt', '2.txt', '3.txt']) ids.push(await upload(client, note, name))
  const picture = await client.files.create({ file: await toFile(png, 'dot.png'), purpose: 'vision' })
  const all = async (query: object) => {
    const found: string[] = []
    for await (const file of client.files.list(query)) found.push(file.id)
    return found
  }
  expect(await all({ limit: 2, order: 'asc' })).toEqual([...ids, picture.id])
  expect(await all({ limit: 1 })).toEqual([picture.id, ...ids.toReversed()])
  expect(await all({ purpose: 'vision' })).toEqual([picture.id])
  for (const id of [...ids, picture.id]) await client.files.delete(id)
  expect(await all({})).toEqual([])
})

test('each call has a row, a refused one too, and no row has the bytes or the name', async () => {
  const client = bed.openai()
  const id = await upload(client, note, 'a-name-nobody-may-read.txt')
  await client.files.retrieve('file-unknown').catch(() => {})
  await client.files.delete(id)
  await until(async () => {
    const found = await bed.database.sql`
      SELECT status FROM requests WHERE endpoint LIKE '/v1/files%' ORDER BY id DESC LIMIT 3`
    return found.map(({ status }) => status).join() === '200,404,200'
  })
  const [kept] = await bed.database.sql`
    SELECT count(*)::integer AS rows FROM request_payloads WHERE body LIKE '%nobody-may-read%'`
  expect(kept?.rows).toBe(0)
})

test('the database does not have the name as text', async () => {
  const client = bed.openai()
  const id = await upload(client, note, 'secret-name.txt')
  const [row] = await bed.database.sql`SELECT files::text AS text, sha256 FROM files WHERE id = ${id}`
  expect(row?.text).not.toContain(Buffer.from('secret-name').toString('hex'))
  expect(row?.sha256).toEqual(createHash('sha256').update(note).digest())
  await client.files.delete(id)
})

test.each([
  ['a purpose that is no input', pdf, { purpose: 'fine-tune' }, /purpose: expected .*, got "fine-tune"/],
  ['a purpose for batches', pdf, { purpose: 'batch' }, /purpose: expected .*, got "batch"/],
  [
    'bytes of no known type',
    Buffer.from([0x50, 0x4b, 3, 4, 0, 0]),
    {},
    /file: this gateway cannot store files of this type/,
  ],
  [
    'a text that is not UTF-8',
    Buffer.from('caf\xe9', 'latin1'),
    {},
    /file: this gateway cannot store files of this type/,
  ],
  [
    'a NUL after the first bytes',
    Buffer.concat([Buffer.alloc(9000, 'x'), Buffer.alloc(1)]),
    {},
    /file: this gateway cannot store files of this type/,
  ],
  ['an empty file', Buffer.alloc(0), {}, /file: is empty/],
  [
    'a life that is too long',
    pdf,
    { expires_after: { anchor: 'created_at', seconds: 2_592_001 } },
    /expires_after.seconds/,
  ],
  ['a field of no upload', pdf, { colour: 'red' }, /colour: unknown part of an upload/],
])('%s is refused by name, and nothing is kept', async (_, bytes, options, problem) => {
  const body = { file: await toFile(bytes, 'x.bin'), purpose: 'user_data', ...options }
  const asked = bed.openai().files.create(body as Parameters<OpenAI['files']['create']>[0])
  await expect(asked).rejects.toThrow(problem)
  await expect(asked).rejects.toMatchObject({ status: 400 })
  await nothingKept()
})

test('a file that is too large is refused, declared or not', async () => {
  const large = Buffer.concat([pdf, Buffer.alloc(1_200_000, 'x')])
  const refused = await upload(bed.openai(), large, 'x.pdf').catch((error: unknown) => error)
  expect(refused).toMatchObject({ status: 413 })
  expect(reasonOf(refused)).toBe('file_too_large')
  const { head, tail } = partsOf('x.pdf')
  const answer = await fetch(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keys.a}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: new ReadableStream({
      start(stream) {
        for (const piece of [head, large, tail]) stream.enqueue(piece)
        stream.close()
      },
    }),
    duplex: 'half',
  } as RequestInit)
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('1000000 bytes') } })
  await nothingKept()
})

test.each([
  ['no form', 'application/json', '{}', /multipart\/form-data/],
  ['no boundary', 'multipart/form-data', 'x', /multipart\/form-data/],
  [
    'a form that breaks off',
    `multipart/form-data; boundary=boundary-of-the-form`,
    '--boundary-of-the-form\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\nabc',
    /multipart\/form-data|whole/,
  ],
  [
    'no file',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--b--\r\n',
    /file: required/,
  ],
])('%s is refused', async (_, type, body, problem) => {
  const answer = await fetch(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.a}`, 'content-type': type },
    body,
  })
  expect(answer.status).toBe(400)
  expect(JSON.stringify(await answer.json())).toMatch(problem)
  await nothingKept()
})

test('an upload with an Idempotency-Key is refused by name, and leaves nothing', async () => {
  const file = new File(['some words'], 'a.txt')
  const headers = { 'idempotency-key': 'again' }
  const before = (await bed.openai().files.list()).data.length
  await expect(bed.openai().files.create({ file, purpose: 'user_data' }, { headers })).rejects.toMatchObject({
    status: 400,
    param: 'idempotency-key',
  })
  expect((await bed.openai().files.list()).data).toHaveLength(before)
})

test('a client that leaves half-way leaves nothing, and its request has a row', async () => {
  const leave = await beginUpload(bed.tollgate.port)
  await until(async () => (await objects()).length === 1)
  leave()
  await until(async () => (await objects()).length === 0)
  await nothingKept()
  const [row] = await until(async () => {
    const found = await bed.database
      .sql`SELECT outcome, stream_end FROM requests WHERE endpoint = '/v1/files' ORDER BY id DESC LIMIT 1`
    return found[0]?.stream_end === 'client_gone' ? found : undefined
  })
  expect(row?.stream_end).toBe('client_gone')
})

test('a file of another tenant is unknown by every call, and a key sees its own where it may see no more', async () => {
  const client = bed.openai()
  const id = await upload(client, pdf, 'of-a.pdf')
  for (const key of [keys.b, keys.own]) {
    const other = bed.openai(key)
    await expect(other.files.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.files.content(id)).rejects.toMatchObject({ status: 404 })
    await expect(other.files.delete(id)).rejects.toMatchObject({ status: 404 })
    expect((await other.files.list()).data).toEqual([])
  }
  const own = await upload(bed.openai(keys.own), pdf, 'of-own.pdf')
  expect((await bed.openai(keys.own).files.list()).data.map((file) => file.id)).toEqual([own])
  expect((await client.files.list()).data.map((file) => file.id)).toEqual([own, id])
  for (const each of [own, id]) await client.files.delete(each)
})

test('an expired file is gone at once, and its row and bytes soon', async () => {
  const client = bed.openai()
  const file = await client.files.create({
    file: await toFile(pdf, 'x.pdf'),
    purpose: 'user_data',
    expires_after: { anchor: 'created_at', seconds: 3600 },
  })
  expect(file.expires_at).toBeCloseTo(file.created_at + 3600, -1)
  expect(await objects()).toHaveLength(1)
  await bed.database.sql`UPDATE files SET expires_at = now() - interval '1 second' WHERE id = ${file.id}`
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 })
  await until(async () => (await objects()).length === 0)
  await nothingKept()
})

test('another process serves the file, and a deleted one is gone there too', async () => {
  const other = await bed.startAnother()
  const client = bed.openai()
  const id = await upload(client, pdf, 'x.pdf')
  const there = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: keys.a, maxRetries: 0 })
  expect(Buffer.from(await (await there.files.content(id)).arrayBuffer()).equals(pdf)).toBe(true)
  await client.files.delete(id)
  await expect(there.files.retrieve(id)).rejects.toMatchObject({ status: 404 })
})

test('a tenant has no more files and bytes than it may, also when it uploads many at once', async () => {
  const other = await bed.startAnother({
    FILES_PER_TENANT_MAX: '3',
    FILES_BYTES_PER_TENANT: '1000',
    ROLE: 'api',
  })
  const client = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: keys.b, maxRetries: 0 })
  const text = Buffer.alloc(400, 'x')
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => upload(client, text, 'x.txt')))
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  const rejected = outcomes.find((outcome) => outcome.status === 'rejected')
  expect(rejected).toMatchObject({ reason: { status: 413 } })
  expect(reasonOf(rejected?.reason)).toBe('file_bytes_full')
  await upload(client, Buffer.from('x'), 'small.txt')
  await expect(upload(client, Buffer.from('x'), 'small.txt')).rejects.toMatchObject({ code: 'files_full' })
  for await (const { id } of client.files.list()) await client.files.delete(id)
  await nothingKept()
})

test('a client that waits for a 100 before it sends the file gets one', async () => {
  const { head, tail } = partsOf('x.txt')
  const body = Buffer.concat([head, note, tail])
  const asked = request(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keys.a}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': body.length,
      expect: '100-continue',
    },
  })
  asked.flushHeaders()
  await once(asked, 'continue')
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(200)
  const made = JSON.parse(Buffer.concat(await answer.toArray()).toString('utf8'))
  await bed.openai().files.delete(made.id)
})

test('without files, all of their paths say so', async () => {
  const other = await bed.startAnother({ FILE_DAYS: '0', ROLE: 'api' })
  const client = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: keys.a, maxRetries: 0 })
  await expect(upload(client, pdf, 'x.pdf')).rejects.toThrow(/404.*FILE_DAYS is 0/)
  const refused = await client.files.list().catch((error: unknown) => error)
  if (!(refused instanceof OpenAI.APIError)) throw refused
  expect(refused.headers?.get('x-tollgate-reason')).toBe('files_not_kept')
})

test('after kill -9 in the middle of an upload, the sweep of another process leaves nothing', async () => {
  const dying = await bed.startAnother({ ROLE: 'api' })
  await beginUpload(dying.port)
  await until(async () => (await objects()).length === 1)
  await dying.kill9()
  expect(await bed.database.sql`SELECT state FROM files`).toMatchObject([{ state: 'uploading' }])
  await bed.database.sql`UPDATE files SET created_at = now() - interval '1 day'`
  await until(async () => (await objects()).length === 0)
  await nothingKept()
})

const boundary = 'boundary-of-the-form'

function partsOf(name: string) {
  return {
    head: Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`,
    ),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
}

/** Sends the first half of an upload. The function that it returns closes the connection. */
async function beginUpload(port: number): Promise<() => void> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const { head } = partsOf('x.txt')
  socket.write(
    `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.a}\r\ncontent-type: multipart/form-data; boundary=${boundary}\r\ncontent-length: 500000\r\n\r\n`,
  )
  socket.write(head)
  socket.write(Buffer.alloc(100_000, 'x'))
  return () => socket.destroy()
}

/** What stands in the folder of files, unfinished ones included. */
async function objects(): Promise<string[]> {
  const folder = join(bed.tollgate.dataDir, 'files')
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((day) => readdirSync(join(folder, day)))
}

async function nothingKept(): Promise<void> {
  await until(async () => (await bed.database.sql`SELECT 1 FROM files`).length === 0)
  await until(async () => (await objects()).length === 0)
}
