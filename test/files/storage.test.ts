import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { runErasure } from '../../src/usage/erasure/run-erasure.ts'
import { startS3 } from '../support/s3.ts'
import { until } from '../support/until.ts'
import { type FilesBed, keys, note, pdf, startFilesBed, upload } from './bed.ts'

let bed: FilesBed | undefined
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await bed?.close()
  bed = undefined
  for (const end of ends.splice(0)) await end()
})

test('in a bucket, files come, are named in requests and go, and large ones come in parts', async () => {
  const s3 = await startS3()
  ends.push(() => s3.close())
  const { bucket, endpoint, region, prefix, accessKeyId, secretAccessKey } = s3.options
  bed = await startFilesBed({
    S3_BUCKET: bucket,
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_PREFIX: prefix,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  })
  const client = bed.openai()
  const large = Buffer.concat([pdf, Buffer.alloc(6_000_000, 'x')])
  const [small, big] = [await upload(client, pdf, 'small.pdf'), await upload(client, large, 'large.pdf')]
  const names = await s3.objects()
  expect(names).toHaveLength(2)
  for (const name of names) expect(name.startsWith(`${prefix}files/`)).toBe(true)
  const content = await client.files.content(big)
  expect(Buffer.from(await content.arrayBuffer()).equals(large)).toBe(true)
  await client.responses.create({
    model: 'via-messages',
    store: false,
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: small }] }],
  })
  expect(bed.seen.at(-1)).toContain(pdf.toString('base64'))

  // A client that leaves while its file is read is not an error.
  const held = Promise.withResolvers<void>()
  let reads = 0
  s3.before(async (request) => {
    if (request.method !== 'GET') return
    reads += 1
    await held.promise
  })
  const leaving = new AbortController()
  const sent = bed.seen.length
  const asked = client.responses
    .create(
      {
        model: 'via-messages',
        store: false,
        input: [{ role: 'user', content: [{ type: 'input_file', file_id: small }] }],
      },
      { signal: leaving.signal },
    )
    .catch(() => {})
  await until(() => reads > 0)
  leaving.abort()
  await asked
  held.resolve()
  const { database } = bed
  await until(async () => {
    const [row] = await database.sql`
      SELECT stream_end FROM requests WHERE endpoint = '/v1/responses' ORDER BY id DESC LIMIT 1`
    return row?.stream_end === 'client_gone'
  })
  expect(bed.seen.length).toBe(sent)

  // A file that is deleted before its bytes are read is refused by its place.
  const deleted = Promise.withResolvers<void>()
  let gets = 0
  s3.before(async (request) => {
    if (request.method !== 'GET') return
    gets += 1
    await deleted.promise
  })
  const gone = await upload(client, note, 'gone.txt')
  const refused = client.chat.completions
    .create({
      model: 'via-chat',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: gone } }] }],
    })
    .catch((error: unknown) => error)
  await until(() => gets > 0)
  await client.files.delete(gone)
  deleted.resolve()
  expect(await refused).toMatchObject({
    status: 400,
    message: expect.stringContaining('no longer stored here'),
  })

  // A bucket that does not take the bytes is a 503 for the upload, and nothing of it stays.
  s3.before((request) => {
    if (request.method === 'PUT') throw new Error('no')
  })
  const away = await upload(client, note, 'x.txt').catch((error: unknown) => error)
  expect(away).toMatchObject({ status: 503 })
  expect((away as { headers?: Headers }).headers?.get('x-tollgate-reason')).toBe('file_storage_away')
  s3.before(() => {})
  for (const id of [small, big]) await client.files.delete(id)
  await until(async () => (await s3.objects()).length === 0)
  expect(await s3.uploads()).toEqual([])
  expect(await bed.database.sql`SELECT 1 FROM files`).toHaveLength(0)
})

test('the erasure of a tenant removes its files, and those of no other', async () => {
  bed = await startFilesBed({ ROLE: 'api' })
  const { database, tollgate } = bed
  const [mine, theirs] = [
    await upload(bed.openai(), note, 'mine.txt'),
    await upload(bed.openai(keys.b), note, 'theirs.txt'),
  ]
  const [tenant] = await database.sql`SELECT tenant_id, object FROM files WHERE id = ${mine}`
  await database.sql`
    INSERT INTO erasures (id, tenant_id, what, to_at, dry_run, state, actor, created_at, counts, not_reached)
    VALUES (${randomUUID()}, ${tenant?.tenant_id}, 'content', now() + interval '1 second', false, 'queued', 'test', now(), '{}', '[]')`
  const removed: string[] = []
  const remove = async (key: string) => {
    removed.push(key)
  }
  await runErasure({
    database,
    storage: { isShared: false, remove: async () => {} },
    files: { remove },
    shipAll: async () => true,
    settleMs: 0,
    silentMs: 60_000,
    batchRows: 7,
    leaseMs: 2_000,
    waitMs: 0,
  })
  expect(removed).toEqual([tenant?.object])
  expect((await database.sql`SELECT id FROM files`).map(({ id }) => id)).toEqual([theirs])
  const [job] = await database.sql`SELECT counts FROM erasures`
  expect(job?.counts).toMatchObject({ files: 1 })
  expect(readdirSync(join(tollgate.dataDir, 'files')).length).toBe(1)
})

test('the hourly sweep removes objects of days before the oldest file', async () => {
  bed = await startFilesBed({ ROLE: 'api' })
  const folder = join(bed.tollgate.dataDir, 'files')
  const id = await upload(bed.openai(), note, 'kept.txt')
  mkdirSync(join(folder, '2020-01-01'), { recursive: true })
  writeFileSync(join(folder, '2020-01-01', 'a'.repeat(32)), 'left')
  await bed.startAnother({ ROLE: 'worker' })
  await until(() => !readdirSync(folder).includes('2020-01-01'))
  expect(await (await bed.openai().files.content(id)).text()).toBe(note.toString())
})

test('a file whose bytes are gone is refused by its place in a request', async () => {
  bed = await startFilesBed({ ROLE: 'api' })
  const client = bed.openai()
  const id = await upload(client, note, 'x.txt')
  await bed.database.sql`UPDATE files SET object = ${`2020-01-01/${'b'.repeat(32)}`} WHERE id = ${id}`
  const asked = client.responses.create({
    model: 'via-chat',
    store: false,
    input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }],
  })
  await expect(asked).rejects.toThrow(
    /input\[0\]\.content\[0\]\.file_id: the file .* is no longer stored here/,
  )
  await expect(client.files.content(id)).rejects.toMatchObject({ status: 404 })
})
