import * as fs from 'node:fs'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Frame, readFrame } from '../../src/journal/frame.ts'
import { Journal, type JournalOptions } from '../../src/journal/journal.ts'
import { listSegments, segmentName } from '../../src/journal/journal-directory.ts'
import { ownLayout } from '../../src/journal/layout.ts'
import { uuidText } from '../../src/journal/tuple.ts'
import type { Disk } from '../../src/runtime/disk.ts'
import { aClose, anOpen } from '../support/records.ts'
import { columnsIn } from '../support/tuples.ts'
import { patienceMs, until } from '../support/until.ts'

let directory: string
const trouble: (string | undefined)[] = []

beforeEach(() => {
  trouble.length = 0
  directory = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
})

afterEach(() => rmSync(directory, { recursive: true, force: true }))

function start(options: Partial<JournalOptions> = {}): Journal {
  return new Journal({
    directory,
    sync: 'process',
    segmentBytes: 1024 * 1024,
    bytesMax: 100 * 1024 * 1024,
    onTrouble: (message) => trouble.push(message),
    ...options,
  })
}

function framesOnDisk(): Frame[] {
  const frames: Frame[] = []
  for (const segment of listSegments(directory)) {
    const bytes = readFileSync(join(directory, segmentName(segment)))
    for (let at = 0; ; ) {
      const frame = readFrame(bytes, at)
      if (typeof frame === 'string') break
      frames.push(frame)
      at += frame.bytes
    }
  }
  return frames
}

/** The real disk until `full` is set. */
function fillableDisk(): Disk & { full: boolean; writes: number } {
  const disk = {
    ...fs,
    full: false,
    writes: 0,
    writeSync(fd: number, buffer: Buffer, at: number, length: number, position: number): number {
      disk.writes += 1
      if (!disk.full) return fs.writeSync(fd, buffer, at, length, position)
      // A disk fills in the middle of a write.
      if (disk.writes % 2 === 1) return fs.writeSync(fd, buffer, at, Math.ceil(length / 2), position)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    },
  }
  return disk
}

test('when `open` resolves, the disk has everything that an orphaned row needs', async () => {
  const journal = start()
  const open = anOpen({
    tenantId: '01890a5d-ac96-774b-bcce-b302099a8057',
    userAgent: 'caf\u00e9 \ud800',
    stream: true,
  })
  await journal.open(open)
  const [frame] = framesOnDisk()
  expect(frame?.kind).toBe('open')
  if (frame?.kind !== 'open') return
  const bytes = readFileSync(join(directory, segmentName(0)))
  const { id, tenant_id, key_id, stream, ...texts } = columnsIn(bytes, frame.halfAt, ownLayout.open)
  expect([id, tenant_id].map((uuid) => uuid && uuidText(uuid))).toEqual([open.id, open.tenantId])
  expect(key_id).toBeNull()
  expect(stream).toEqual(Buffer.from([1]))
  expect(String(texts.endpoint)).toBe(open.endpoint)
  expect(String(texts.requested_model)).toBe(open.requestedModel)
  expect(String(texts.user_agent)).toBe('caf\u00e9 \ufffd')
  expect(String(texts.client_address)).toBe(open.clientAddress)
  expect(texts.idempotency_key).toBeNull()
  expect(bytes.subarray(frame.payloadAt, frame.end).includes('gpt-main')).toBe(true)
  await journal.end()
})

test('all frames of one turn of the event loop go out in one write', async () => {
  const disk = fillableDisk()
  const journal = start({ disk })
  await Promise.all(Array.from({ length: 200 }, () => journal.open(anOpen())))
  expect(disk.writes).toBe(1)
  expect(framesOnDisk()).toHaveLength(200)
  await journal.end()
})

test('a torn tail is found at any byte, and every frame before it is read', async () => {
  const journal = start()
  const first = anOpen()
  await journal.open(first)
  const whole = fs.statSync(join(directory, segmentName(0))).size
  await journal.close(first, aClose())
  await journal.end()
  const bytes = readFileSync(join(directory, segmentName(0)))
  for (let cut = whole; cut < bytes.length; cut++) {
    expect(readFrame(bytes.subarray(0, cut), whole)).toBe('incomplete')
    const torn = Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(bytes.length - cut)])
    const read = readFrame(torn, whole)
    expect(read === 'damaged' || read === 'incomplete' || torn.equals(bytes)).toBe(true)
  }
  expect(readFrame(bytes, whole)).toMatchObject({ kind: 'close' })
})

test('a record that cannot be written does not hide the next one', async () => {
  const journal = start()
  const unreadable = {
    get: () => {
      throw new Error('it cannot be read')
    },
  }
  const open = Object.defineProperty(anOpen(), 'userAgent', unreadable)
  const close = Object.defineProperty(aClose(), 'channel', unreadable)
  await expect(journal.open(open)).rejects.toThrow('it cannot be read')
  await expect(journal.row(anOpen(), close)).rejects.toThrow('it cannot be read')
  const good = anOpen()
  await journal.row(good, aClose())
  expect(framesOnDisk().map(({ kind }) => kind)).toEqual(['open', 'close'])
  await journal.end()
})

test('a full disk refuses new requests with the reason; the journal keeps every close, and writes it when there is room', async () => {
  const disk = fillableDisk()
  const journal = start({ disk })
  const running = Array.from({ length: 20 }, () => anOpen())
  await Promise.all(running.map((open) => journal.open(open)))
  disk.full = true
  const refused = await Promise.allSettled([
    journal.open(anOpen()),
    ...running.slice(0, 10).map((open) => journal.close(open, aClose())),
  ])
  expect(refused[0]).toMatchObject({
    status: 'rejected',
    reason: { kind: 'unavailable', retryAfterSeconds: 5 },
  })
  expect(refused.slice(1).every((one) => one.status === 'fulfilled')).toBe(true)
  expect(String(trouble[0])).toContain('ENOSPC')
  await expect(journal.open(anOpen())).rejects.toMatchObject({
    reason: 'journal_disk_failed',
  })
  await Promise.all(running.slice(10).map((open) => journal.close(open, aClose())))
  disk.full = false
  await expect.poll(() => trouble.at(-1), { timeout: patienceMs }).toBe(undefined)
  const after = anOpen()
  await journal.open(after)
  const frames = framesOnDisk()
  expect(frames.filter((frame) => frame.kind === 'open')).toHaveLength(21)
  expect(frames.filter((frame) => frame.kind === 'close')).toHaveLength(20)
  await journal.end()
})

test('at its bound the journal refuses new requests and still accepts the end of running ones', async () => {
  const journal = start({ bytesMax: 600 })
  const running = anOpen()
  await journal.open(running)
  await journal.row(anOpen(), aClose())
  await expect(journal.open(anOpen())).rejects.toMatchObject({ kind: 'unavailable' })
  await journal.close(running, aClose())
  journal.shippedTo({ segment: 0, at: journal.bytes })
  await journal.open(anOpen())
  await journal.end()
})

test('beyond its bound the journal keeps refusals without their bodies, and reports when it holds twice as much', async () => {
  const journal = start({ bytesMax: 1000 })
  while (!journal.overfull) await journal.row(anOpen({ body: Buffer.alloc(400, 'x') }), aClose())
  const bodies = framesOnDisk().flatMap((frame) =>
    frame.kind === 'open' ? [frame.payloadAt < frame.end] : [],
  )
  expect(bodies.indexOf(false)).toBeGreaterThan(0)
  expect(bodies.slice(bodies.indexOf(false)).some((kept) => kept)).toBe(false)
  expect(journal.bytes).toBeLessThan(3000)
  journal.shippedTo({ segment: 0, at: journal.bytes })
  expect(journal.overfull).toBe(false)
  await journal.end()
})

test('with sync disk a request waits for fdatasync', async () => {
  let synced = 0
  const disk = fillableDisk()
  const journal = start({
    sync: 'disk',
    disk: {
      ...disk,
      fdatasync: ((fd: number, done: fs.NoParamCallback) =>
        fs.fdatasync(fd, (error) => {
          synced += 1
          done(error)
        })) as typeof fs.fdatasync,
    },
  })
  await journal.open(anOpen())
  expect(synced).toBe(1)
  await Promise.all([journal.open(anOpen()), journal.open(anOpen())])
  expect(synced).toBe(2)
  await journal.end()
})

/** A disk whose syncs the test ends. `written`: the descriptors of the writes, in order. */
function heldDisk() {
  const held: { fd: number; end(error?: Error): void }[] = []
  const written: number[] = []
  const disk: Disk = {
    ...fillableDisk(),
    writeSync: ((fd: number, ...rest: [Buffer, number, number, number]) => {
      written.push(fd)
      return fs.writeSync(fd, ...rest)
    }) as typeof fs.writeSync,
    fdatasync: ((fd: number, done: fs.NoParamCallback) => {
      held.push({ fd, end: (error) => done(error ?? null) })
    }) as typeof fs.fdatasync,
  }
  return { disk, held, written }
}

/** True when the promise is settled after all that can happen now has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(
    () => {
      settled = true
    },
    () => {
      settled = true
    },
  )
  // Each turn takes events of files, too.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  return settled
}

/** The real disk, except that its syncs fail while `fails` is set. */
function failingDisk() {
  const disk: Disk & { fails: boolean } = {
    ...fillableDisk(),
    fails: false,
    fdatasync: ((fd: number, done: fs.NoParamCallback) =>
      disk.fails
        ? setImmediate(() => done(new Error('EIO: i/o error')))
        : fs.fdatasync(fd, done)) as typeof fs.fdatasync,
  }
  return disk
}

test('with sync disk a request waits for the sync of the file that has its own bytes, also when a new segment begins', async () => {
  const { disk, held, written } = heldDisk()
  // Each turn fills a segment.
  const journal = start({ sync: 'disk', segmentBytes: 1, disk })
  const first = journal.open(anOpen())
  await until(() => held.length === 1)
  const second = journal.open(anOpen())
  await until(() => listSegments(directory).length === 3)
  held[0]?.end()
  await first
  const synced = [held[0]?.fd]
  let isSecondSynced = false
  void second.then(() => {
    isSecondSynced = true
  })
  for (let i = 1; !isSecondSynced; i++) {
    await until(() => isSecondSynced || held.length > i)
    if (!isSecondSynced) synced.push(held[i]?.fd)
    held[i]?.end()
  }
  expect(synced.slice(0, 2)).toEqual(written.slice(0, 2))
  disk.fdatasync = fs.fdatasync
  for (const { end } of held) end()
  await journal.end()
})

test('with sync disk a request waits until the name of a new segment is on the disk', async () => {
  const folders: (() => void)[] = []
  const disk = fillableDisk()
  disk.fsync = ((fd: number, done: fs.NoParamCallback) => {
    expect(fs.fstatSync(fd).isDirectory()).toBe(true)
    folders.push(() => fs.fsync(fd, done))
  }) as typeof fs.fsync
  const journal = start({ sync: 'disk', disk })
  const opened = journal.open(anOpen())
  await until(() => folders.length === 1)
  expect(await isSettled(opened)).toBe(false)
  disk.fsync = fs.fsync
  folders[0]?.()
  // Its parent has the name of the directory.
  await opened
  await journal.end()
})

test('a power failure leaves a journal with whole columns, or without frames', async () => {
  const done: string[] = []
  const disk: Disk = {
    ...fs,
    openSync(path, flags, mode) {
      done.push(`open ${basename(path)}`)
      return fs.openSync(path, flags, mode)
    },
    writeFileSync(path, data, options) {
      if (!path.endsWith('ballast'))
        done.push(`${options.flush === true ? 'sync' : 'write'} ${basename(path)}`)
      fs.writeFileSync(path, data, options)
    },
    renameSync(from, to) {
      done.push(`name ${basename(to)}`)
      fs.renameSync(from, to)
    },
  }
  const journal = start({ disk })
  expect(done).toEqual(['sync columns.json.draft', 'name columns.json', `open ${segmentName(0)}`])
  await journal.end()
})

test('what Postgres has of a segment is synced too, because only the journal has the beginnings of running requests', async () => {
  const { disk, held, written } = heldDisk()
  const journal = start({ segmentBytes: 1, disk })
  await journal.open(anOpen())
  expect(listSegments(directory)).toEqual([0, 1])
  journal.shippedTo({ segment: 1, at: 0 })
  await until(() => held.length > 0)
  expect(held[0]?.fd).toBe(written[0])
  disk.fdatasync = fs.fdatasync
  held[0]?.end()
  await journal.end()
})

test('a sync that fails refuses what it would open, and what it would end waits for a disk that works again', async () => {
  const disk = failingDisk()
  const journal = start({ sync: 'disk', disk })
  const running = anOpen()
  await journal.open(running)
  disk.fails = true
  const refused = anOpen()
  const opened = journal.open(refused)
  const closed = journal.close(running, aClose())
  await expect(opened).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 5 })
  expect(await isSettled(closed)).toBe(false)
  expect(trouble.at(-1)).toContain('EIO')
  await expect(journal.open(anOpen())).rejects.toMatchObject({ kind: 'unavailable' })
  // The row of a refused request promises nothing.
  await journal.row(refused, aClose())
  disk.fails = false
  await closed
  await until(() => trouble.at(-1) === undefined)
  await journal.open(anOpen())
  // Once: the bytes of the failed sync are taken back.
  expect(framesOnDisk().map(({ kind }) => kind)).toEqual(['open', 'close', 'open', 'close', 'open'])
  expect(listSegments(directory)).toEqual([0, 1])
  await journal.end()
})

test('what a failed sync took back is never written over, and does not count as shipped, because it may have been', async () => {
  const places: string[] = []
  const disk = failingDisk()
  const { writeSync, fdatasync } = disk
  disk.writeSync = (fd, bytes, at, length, position) => {
    places.push(`${fd} at ${position}`)
    return writeSync(fd, bytes, at, length, position)
  }
  const synced = new Map<number, number>()
  // Syncs of what was synced before succeed, and of an empty file.
  disk.fdatasync = (fd, done) => {
    const { size } = fs.fstatSync(fd)
    if (size > (synced.get(fd) ?? 0) && disk.fails) return fdatasync(fd, done)
    synced.set(fd, size)
    fs.fdatasync(fd, done)
  }
  const journal = start({ sync: 'disk', disk })
  const running = anOpen()
  await journal.open(running)
  disk.fails = true
  const closed = journal.close(running, aClose())
  await until(() => places.length === 2)
  journal.shippedTo({ segment: 0, at: fs.statSync(join(directory, segmentName(0))).size })
  await until(() => listSegments(directory).length >= 3)
  const { written, shipped, kept } = journal.progress
  expect(shipped + kept).toBeLessThanOrEqual(written)
  disk.fails = false
  await closed
  expect(new Set(places).size).toBe(places.length)
  await journal.end()
})

test('with sync disk the end of a request is refused when the disk goes on to fail, and is written in the end', async () => {
  const disk = failingDisk()
  const journal = start({ sync: 'disk', disk })
  const running = anOpen()
  await journal.open(running)
  disk.fails = true
  await expect(journal.close(running, aClose())).rejects.toMatchObject({ kind: 'unavailable' })
  expect(framesOnDisk().map(({ kind }) => kind)).not.toContain('close')
  disk.fails = false
  await until(() => trouble.at(-1) === undefined)
  expect(framesOnDisk().map(({ kind }) => kind)).toEqual(['open', 'close'])
  await journal.end()
})

test('a sync in the background that fails is said, and said to be over', async () => {
  const disk = failingDisk()
  const journal = start({ disk })
  disk.fails = true
  await journal.row(anOpen(), aClose())
  await until(() => trouble.at(-1)?.includes('EIO'))
  disk.fails = false
  await until(() => trouble.length > 1 && trouble.at(-1) === undefined)
  await journal.open(anOpen())
  expect(framesOnDisk().map(({ kind }) => kind)).toEqual(['open', 'close', 'open'])
  await journal.end()
})

test('rows for which neither the disk nor the memory has room are counted', async () => {
  const disk = fillableDisk()
  let lost = 0
  const journal = start({
    disk,
    onLost: (rows) => {
      lost += rows
    },
  })
  disk.full = true
  const body = Buffer.alloc(1024 * 1024, 'x')
  for (let i = 0; i < 70; i++) await journal.row(anOpen({ body }), aClose())
  disk.full = false
  await until(() => trouble.length > 0 && trouble.at(-1) === undefined)
  const kept = framesOnDisk().filter(({ kind }) => kind === 'close').length
  expect(kept).toBeGreaterThan(60)
  expect(lost).toBe(70 - kept)
  expect(lost).toBeGreaterThan(0)
  await journal.end()
})
