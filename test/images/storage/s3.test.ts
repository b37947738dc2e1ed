import { afterEach, beforeEach, expect, test } from 'vitest'
import { s3Storage } from '../../../src/storage/s3.ts'
import type { ImageStorage } from '../../../src/storage/storage.ts'
import { type S3Server, startS3 } from '../../support/s3.ts'

const MiB = 1024 * 1024

let server: S3Server
let storage: ImageStorage
beforeEach(async () => {
  server = await startS3()
  storage = await s3Storage(server.options)
})
afterEach(async () => {
  await storage.close()
  await server.close()
})

/** Calls `write` until it no longer resolves, or all bytes are written. Resolves with the number of accepted bytes. */
async function writeUntilStuck(write: (bytes: Buffer) => Promise<void>, bytes: number, stuck: Promise<void>) {
  let taken = 0
  const all = (async () => {
    for (; taken < bytes; taken += MiB) await write(Buffer.alloc(MiB))
  })()
  await Promise.race([all, stuck])
  return { all, taken: () => taken }
}

test('the writer waits while a part is being uploaded', async () => {
  const arrived = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  server.before(async ({ url }) => {
    if (url?.includes('partNumber=1') !== true) return
    arrived.resolve()
    await held.promise
  })
  const writer = storage.create()
  const { all, taken } = await writeUntilStuck((bytes) => writer.write(bytes), 30 * MiB, arrived.promise)
  // A writer that does not wait would accept more bytes in a few turns of the event loop.
  for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(taken()).toBeLessThanOrEqual(8 * MiB)
  held.resolve()
  await all
  await writer.commit()
  const image = await storage.open(writer.key)
  expect(image?.bytes).toBe(30 * MiB)
  image?.stream.destroy()
})

test('a part that the service never accepts fails the writer, and leaves nothing', async () => {
  server.before(({ url }) => {
    if (url?.includes('partNumber=2') === true) throw new Error('no')
  })
  const writer = storage.create()
  const writing = (async () => {
    for (let i = 0; i < 40; i++) await writer.write(Buffer.alloc(MiB))
  })()
  await expect(writing).rejects.toThrow('The image cannot be stored in the bucket images: ')
  await expect(writer.write(Buffer.alloc(1))).rejects.toThrow('cannot be stored')
  await expect(writer.commit()).rejects.toThrow('cannot be stored')
  await writer.abandon()
  expect([...(await server.objects()), ...(await server.uploads())]).toEqual([])
})

test('abandon deletes an image that may be stored although the service answered with an error', async () => {
  const writer = storage.create()
  await writer.write(Buffer.from('one'))
  const object = `tollgate/${writer.key}`
  server.before(async ({ method }) => {
    if (method !== 'PUT') return
    await server.put(object, 'one')
    throw new Error('no')
  })
  await expect(writer.commit()).rejects.toThrow('cannot be stored')
  expect(await server.objects()).toEqual([object])
  await writer.abandon()
  expect(await server.objects()).toEqual([])
})

test('an unreachable service is an error for the operator, and abandon never rejects', async () => {
  const away = await s3Storage({ ...server.options, endpoint: 'http://127.0.0.1:1' })
  await expect(away.check()).rejects.toThrow(
    'Images cannot be stored in the bucket images: connect ECONNREFUSED 127.0.0.1:1',
  )
  await expect(away.open(`2026-11-21/${'0'.repeat(32)}`)).rejects.toThrow('ECONNREFUSED')
  const writer = away.create()
  await writer.write(Buffer.from('one'))
  await expect(writer.commit()).rejects.toThrow('ECONNREFUSED')
  await writer.abandon()
  await away.close()
})

test('a missing or foreign bucket is an error, not a missing image', async () => {
  const elsewhere = await s3Storage({ ...server.options, bucket: 'nowhere' })
  await expect(elsewhere.check()).rejects.toThrow('Images cannot be stored in the bucket nowhere: ')
  await expect(elsewhere.open(`2026-11-21/${'0'.repeat(32)}`)).rejects.toThrow('bucket does not exist')
  await elsewhere.close()
  const stranger = await s3Storage({ ...server.options, secretAccessKey: 'wrong' })
  await expect(stranger.check()).rejects.toThrow('signature')
  await expect(stranger.open(`2026-11-21/${'0'.repeat(32)}`)).rejects.toThrow('signature')
  await stranger.close()
})

test('one of the two credentials alone is refused', async () => {
  await expect(s3Storage({ ...server.options, secretAccessKey: undefined })).rejects.toThrow(
    'Set both or neither',
  )
  await expect(s3Storage({ ...server.options, accessKeyId: undefined })).rejects.toThrow(
    'Set both or neither',
  )
})

test('requests use no checksum but Content-MD5, which all services know', async () => {
  const small = storage.create()
  await small.write(Buffer.from('one'))
  await small.commit()
  const large = storage.create()
  for (let i = 0; i < 11; i++) await large.write(Buffer.alloc(MiB))
  await large.commit()
  for (const { key } of [small, large]) (await storage.open(key))?.stream.destroy()
  await storage.removeBefore(new Date(Date.now() + 48 * 3600 * 1000))

  const kinds = server.requests.map(
    ({ method, url }) =>
      `${method} ${/[?&](uploads|partNumber|uploadId|delete|list-type)\b/.exec(url)?.[1] ?? ''}`,
  )
  expect(new Set(kinds)).toEqual(
    new Set([
      'PUT ',
      'POST uploads',
      'PUT partNumber',
      'POST uploadId',
      'GET ',
      'GET list-type',
      'POST delete',
      'GET uploads',
    ]),
  )
  for (const { method, url, headers } of server.requests) {
    const foreign = Object.keys(headers).filter((name) => /^x-amz-(sdk-)?(checksum|trailer)/.test(name))
    expect(foreign, `${method} ${url}`).toEqual([])
    expect(headers['transfer-encoding'], `${method} ${url}`).toBeUndefined()
    if (url.includes('?delete')) expect(headers['content-md5']).toMatch(/^[\w+/]{22}==$/)
  }
})

test('a day with more images than one call may delete is deleted completely', async () => {
  for (let i = 0; i < 1005; i++) {
    await server.put(`tollgate/2001-01-01/${i.toString(16).padStart(32, '0')}`, 'x')
  }
  expect(await storage.removeBefore(new Date('2001-01-02T00:00:00Z'))).toBe(1005)
  expect(await server.objects()).toEqual([])
  expect(server.requests.filter(({ url }) => url.includes('?delete'))).toHaveLength(2)
})

test('other prefixes of the bucket are left alone', async () => {
  const name = '0'.repeat(32)
  await server.put(`tollgate/2001-01-01/${name}`, 'x')
  const others = [`2001-01-01/${name}`, `other/2001-01-01/${name}`, `tollgate/deeper/2001-01-01/${name}`]
  for (const other of others) await server.put(other, 'x')
  expect(await storage.removeBefore(new Date())).toBe(1)
  expect(await server.objects()).toEqual(others.sort())
})

test('retention deletes images even if the service cannot list unfinished uploads', async () => {
  const simple = await startS3({ listsUploads: false })
  const its = await s3Storage(simple.options)
  await simple.put(`tollgate/2001-01-01/${'0'.repeat(32)}`, 'x')
  expect(await its.removeBefore(new Date())).toBe(1)
  expect(await simple.objects()).toEqual([])
  await its.close()
  await simple.close()
})
