import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileStorage } from '../../../src/storage/files.ts'
import { s3Storage } from '../../../src/storage/s3.ts'
import type { ImageStorage } from '../../../src/storage/storage.ts'
import { startS3 } from '../../support/s3.ts'

/** The contract of both storages, files and buckets. */

const MiB = 1024 * 1024

interface Place {
  storage: ImageStorage
  /** An expression that makes the same storage in another process. */
  code: string
  /** Every file, object and unfinished upload in the storage. */
  everything(): Promise<string[]>
  /** Put something there that does not belong to the storage. */
  putForeign(): Promise<void>
  /** Bytes that this process has sent, or that are on disk. */
  bytesGone(): Promise<number>
  close(): Promise<void>
}

async function startFiles(): Promise<Place> {
  const above = mkdtempSync(join(tmpdir(), 'tollgate-images-'))
  const directory = join(above, 'images')
  await writeFile(join(above, 'secret'), 'not for clients')
  const paths = async () => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  }
  return {
    storage: fileStorage({ directory }),
    code: `(await import('./src/storage/files.ts')).fileStorage(${JSON.stringify({ directory })})`,
    everything: paths,
    putForeign: () => writeFile(join(directory, 'notes'), 'mine'),
    async bytesGone() {
      const sizes = (await paths()).map(async (path) => (await stat(path)).size)
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    },
    close: async () => rmSync(above, { recursive: true }),
  }
}

async function startBucket(): Promise<Place> {
  const server = await startS3({ perPage: 2 })
  const storage = await s3Storage(server.options)
  return {
    storage,
    code: `await (await import('./src/storage/s3.ts')).s3Storage(${JSON.stringify(server.options)})`,
    everything: async () => [...(await server.objects()), ...(await server.uploads())],
    putForeign: () => server.put('tollgate/2001-01-01/notes', 'mine'),
    bytesGone: async () => server.bytesArrived(),
    async close() {
      await storage.close()
      await server.close()
    },
  }
}

describe.each([
  { name: 'files', start: startFiles },
  { name: 'a bucket', start: startBucket },
])('images in $name', ({ start }) => {
  let place: Place
  let storage: ImageStorage
  beforeEach(async () => {
    place = await start()
    storage = place.storage
  })
  afterEach(() => place.close())

  async function keep(...chunks: Buffer[]): Promise<string> {
    const writer = storage.create()
    for (const chunk of chunks) await writer.write(chunk)
    await writer.commit()
    return writer.key
  }

  async function read(key: string): Promise<Buffer | undefined> {
    const image = await storage.open(key)
    return image === undefined ? undefined : await buffer(image.stream)
  }

  test('an image that was written in pieces reads as it was, and is invisible until it is committed', async () => {
    const pieces = [1, 70_000, 1, 3 * MiB, 17].map((length) => randomBytes(length))
    const writer = storage.create()
    for (const piece of pieces) await writer.write(piece)
    expect(await storage.open(writer.key)).toBeUndefined()
    await writer.commit()
    expect(writer.key).toMatch(/^\d{4}-\d\d-\d\d\/[0-9a-f]{32}$/)
    const image = await storage.open(writer.key)
    if (image === undefined) throw new Error('it is not there')
    const whole = Buffer.concat(pieces)
    expect(image.bytes).toBe(whole.length)
    expect((await buffer(image.stream)).equals(whole)).toBe(true)
  })

  test('an image of 50 MB is stored whole, with at most four of its parts in memory', async () => {
    const writer = storage.create()
    const hash = createHash('sha256')
    let [written, heldMost] = [0, 0]
    while (written < 50 * MiB) {
      const piece = randomBytes(257 * 1024)
      await writer.write(piece)
      hash.update(piece)
      written += piece.length
      heldMost = Math.max(heldMost, written - (await place.bytesGone()))
    }
    await writer.commit()
    expect(heldMost).toBeLessThan(20 * MiB)
    const image = await storage.open(writer.key)
    expect(image?.bytes).toBe(written)
    const kept = createHash('sha256')
    for await (const chunk of image?.stream ?? []) kept.update(chunk)
    expect(kept.digest('hex')).toBe(hash.digest('hex'))
  })

  test('two images that are written at the same time do not mix', async () => {
    const [a, b] = [storage.create(), storage.create()]
    for (let i = 0; i < 50; i++) {
      await Promise.all([a.write(Buffer.alloc(200_000, 'a')), b.write(Buffer.alloc(200_000, 'b'))])
    }
    await Promise.all([a.commit(), b.commit()])
    expect((await read(a.key))?.equals(Buffer.alloc(10_000_000, 'a'))).toBe(true)
    expect((await read(b.key))?.equals(Buffer.alloc(10_000_000, 'b'))).toBe(true)
  })

  test.each([0, 1, 12 * MiB])('an image that is abandoned after %i bytes leaves nothing', async (bytes) => {
    const writer = storage.create()
    for (let at = 0; at < bytes; at += MiB) await writer.write(Buffer.alloc(MiB))
    await writer.abandon()
    await writer.abandon()
    expect(await place.everything()).toEqual([])
    await expect(writer.write(Buffer.from('more'))).rejects.toThrow('abandoned')
    await expect(writer.commit()).rejects.toThrow('abandoned')
    expect(await place.everything()).toEqual([])
  })

  test('an image that is abandoned during its writing, during its commit or afterwards leaves nothing', async () => {
    const writing = storage.create()
    const wrote = Promise.allSettled([writing.write(Buffer.alloc(12 * MiB))])
    await writing.abandon()
    await wrote
    expect(await place.everything()).toEqual([])

    const committing = storage.create()
    await committing.write(Buffer.from('x'))
    const committed = Promise.allSettled([committing.commit()])
    await committing.abandon()
    await committed
    expect(await place.everything()).toEqual([])

    const done = storage.create()
    await done.write(Buffer.from('x'))
    await done.commit()
    await done.abandon()
    expect(await storage.open(done.key)).toBeUndefined()
    expect(await place.everything()).toEqual([])
  })

  test('a half-written image of a killed process is invisible, and retention deletes it', async () => {
    const script = `
      const storage = ${place.code}
      const writers = []
      for (let images = 0; images < 5; images++) {
        const writer = storage.create()
        writers.push(writer)
        for (let i = 0; i < 12; i++) await writer.write(Buffer.alloc(${MiB}))
        console.log(writer.key)
      }
      setInterval(() => writers, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += text
      if (output.split('\n').length === 6) break
    }
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    const keys = output.trim().split('\n')
    for (const key of keys) expect(await storage.open(key)).toBeUndefined()
    expect(await place.everything()).toHaveLength(5)
    expect(await storage.removeBefore(dayAfter(keys.at(-1)))).toBe(5)
    expect(await place.everything()).toEqual([])
  })

  test('days before the moment are deleted; its own day and foreign files stay', async () => {
    const key = await keep(Buffer.from('one'))
    await place.putForeign()
    expect(await storage.removeBefore(new Date(`${key.slice(0, 10)}T23:59:59.999Z`))).toBe(0)
    expect((await read(key))?.toString()).toBe('one')
    expect(await storage.removeBefore(dayAfter(key))).toBe(1)
    expect(await storage.open(key)).toBeUndefined()
    expect(await storage.removeBefore(dayAfter(key))).toBe(0)
    expect(await place.everything()).toHaveLength(1)
  })

  test('two processes may delete the same days at once, while images are stored', async () => {
    const keys = await Promise.all(Array.from({ length: 40 }, () => keep(randomBytes(100))))
    const moment = dayAfter(keys.sort().at(-1))
    const [first, second] = await Promise.all([storage.removeBefore(moment), storage.removeBefore(moment)])
    expect(first + second).toBeGreaterThanOrEqual(40)
    expect(await place.everything()).toEqual([])
    const key = await keep(Buffer.from('later'))
    expect((await read(key))?.toString()).toBe('later')
  })

  test('a reader of an image that is being deleted can read it to its end', async () => {
    const bytes = randomBytes(9 * MiB)
    const key = await keep(bytes)
    const image = await storage.open(key)
    const pieces: Buffer[] = []
    for await (const piece of image?.stream ?? []) {
      if (pieces.length === 0) expect(await storage.removeBefore(dayAfter(key))).toBe(1)
      pieces.push(piece)
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
    expect(await storage.open(key)).toBeUndefined()
  })

  test('a stream that is destroyed half-way does not affect anything else', async () => {
    const key = await keep(randomBytes(9 * MiB))
    for (let i = 0; i < 60; i++) {
      const image = await storage.open(key)
      image?.stream.destroy()
    }
    expect(await read(key)).toHaveLength(9 * MiB)
  })

  test('an unknown key opens nothing', async () => {
    const key = await keep(Buffer.from('one'))
    const name = key.slice(11)
    const strange = [
      '../secret',
      '2026-11-21/../../secret',
      `../images/${key}`,
      `${key}\n`,
      `/${key}`,
      `${key}.part`,
      `${key}\0`,
      `./${key}`,
      key.replace('/', '//'),
      key.replace('/', '%2f'),
      `${key.slice(0, 10)}/${'A'.repeat(32)}`,
      `${key.slice(0, 10)}/${name.slice(1)}`,
      `0000-00-00/${name}`,
      `${key.slice(0, 10)}/${'0'.repeat(32)}`,
      key.slice(0, 10),
      'constructor',
      '',
    ]
    for (const other of strange) expect(await storage.open(other), JSON.stringify(other)).toBeUndefined()
    expect((await read(key))?.toString()).toBe('one')
  })

  test('the check of a working storage leaves nothing', async () => {
    await storage.check()
    await Promise.all([storage.check(), storage.check()])
    expect(await place.everything()).toEqual([])
  })
})

function dayAfter(key = ''): Date {
  return new Date(Date.parse(`${key.slice(0, 10)}T00:00:00Z`) + 24 * 3600 * 1000)
}
