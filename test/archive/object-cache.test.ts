import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ObjectCache, type StoredPart } from '../../src/usage/archive/object-cache.ts'
import type { ArchiveStore } from '../../src/usage/archive/store.ts'
import { until } from '../support/until.ts'

/** Local copies of files of a bucket. */

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-copies-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(home, { recursive: true, force: true })
})

interface Fetch {
  name: string
  arrive(): void
}

/** A bucket whose files come when the test says so. */
function slowBucket() {
  const files = new Map<string, Buffer>()
  const fetches: Fetch[] = []
  const store: Pick<ArchiveStore, 'fetch' | 'pathOf'> = {
    pathOf: () => undefined,
    fetch: (name, path, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        fetches.push({
          name,
          arrive() {
            writeFileSync(path, files.get(name) ?? '')
            resolve()
          },
        })
      }),
  }
  const part = (bytes = 10): StoredPart => {
    const content = randomBytes(bytes)
    const location = `file-${files.size}`
    files.set(location, content)
    return { location, bytes, sha256: createHash('sha256').update(content).digest('hex') }
  }
  return { store, part, fetches, arrivals: (count: number) => until(() => fetches.length >= count) }
}

const never = () => new AbortController().signal
const gone = new Error('the client has left')
const copyOf = ({ sha256 }: StoredPart) => existsSync(join(home, `${sha256}.parquet`))

test('a file whose query has ended comes to its end, no further one begins, and the next query finds it', async () => {
  const { store, part, fetches, arrivals } = slowBucket()
  const cache = new ObjectCache(home, 1_000, store)
  const parts = [part(), part()]
  const leaving = new AbortController()
  const first = cache.with(parts, async (paths) => paths, leaving.signal)
  await arrivals(1)
  leaving.abort(gone)
  await expect(first).rejects.toBe(gone)
  const second = cache.with(parts, async (paths) => paths.map((path) => existsSync(path)), never())
  fetches[0]?.arrive()
  await arrivals(2)
  expect(fetches.map(({ name }) => name)).toEqual(parts.map(({ location }) => location))
  fetches[1]?.arrive()
  expect(await second).toEqual([true, true])
  expect(await cache.with(parts, async (paths) => paths.length, never())).toBe(2)
  expect(fetches).toHaveLength(2)
})

test('an ended query whose file comes later leaves it for the next one', async () => {
  const { store, part, fetches, arrivals } = slowBucket()
  const cache = new ObjectCache(home, 1_000, store)
  const file = part()
  const leaving = new AbortController()
  const asked = cache.with([file, part()], async () => {}, leaving.signal)
  await arrivals(1)
  leaving.abort(gone)
  await expect(asked).rejects.toBe(gone)
  fetches[0]?.arrive()
  await until(() => copyOf(file))
  expect(await cache.with([file], async ([path]) => existsSync(path ?? ''), never())).toBe(true)
  expect(fetches).toHaveLength(1)
})

test('four files come at a time, and no more bytes than the copies may take', async () => {
  for (const { bytes, most } of [
    { bytes: 10, most: 4 },
    { bytes: 400, most: 2 },
    { bytes: 2_000, most: 1 },
  ]) {
    const { store, part, fetches, arrivals } = slowBucket()
    const cache = new ObjectCache(home, 1_000, store)
    const asked = Array.from({ length: 6 }, () => cache.with([part(bytes)], async () => {}, never()))
    for (let arrived = 0; arrived < 6; arrived++) {
      await arrivals(Math.min(arrived + most, 6))
      // One more would have begun by now.
      await new Promise((resolve) => setImmediate(resolve))
      expect(fetches.length - arrived).toBeLessThanOrEqual(most)
      fetches[arrived]?.arrive()
    }
    await Promise.all(asked)
  }
})

test('a file that does not grow is given up, and its place is free again', async () => {
  const { store, part, fetches, arrivals } = slowBucket()
  const cache = new ObjectCache(home, 1_000, store)
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const file = part()
  let error: unknown
  const asked = cache
    .with([file], async () => {}, never())
    .catch((reason: unknown) => {
      error = reason
    })
  await arrivals(1)
  await until(() => {
    vi.advanceTimersByTime(30_000)
    return error !== undefined
  })
  await asked
  expect(String(error)).toContain('has stopped sending data')
  const again = cache.with([file], async () => 'whole', never())
  await arrivals(2)
  fetches[1]?.arrive()
  expect(await again).toBe('whole')
})
