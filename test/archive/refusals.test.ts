import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeLog } from '../../src/telemetry/log.ts'
import { Archive } from '../../src/usage/archive/archive.ts'
import { olderDays } from '../../src/usage/archive/older-days.ts'
import type { PartInForce } from '../../src/usage/archive/parts-in-force.ts'
import { ArchiveReader } from '../../src/usage/archive/reader.ts'
import { SliceTooLong } from '../../src/usage/log/older-days.ts'
import { holdsFor, patienceMs } from '../support/until.ts'

const reason = (word: string) => expect.objectContaining({ reason: word })

describe('a query of older days', () => {
  const [from, to] = [new Date(0), new Date(1)]
  const parts = ['01', '02', '03'].map((day) => ({ day: `2026-11-${day}`, bytes: 1 }) as PartInForce)

  test('is refused where twenty wait', async () => {
    const duck = { memoryBytes: 1 << 27, threads: 1 }
    const place = { kind: 'files', directory: '/no/such/archive' } as const
    const reader = new ArchiveReader(
      { place, cache: '/no/such/cache', cacheBytes: 1, duck },
      makeLog('silent'),
    )
    const query = { parts: [], columns: [], select: 'SELECT 1', parameters: [] }
    const asked = Array.from({ length: 22 }, () => reader.ask(query, { withinMs: 60_000 }))
    const ended = Promise.allSettled(asked)
    await expect(asked[21]).rejects.toThrow(reason('archive_queries_full'))
    reader.close()
    await ended
  })

  test('does not fail because the process of the one before is killed while its answer is on the way', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tollgate-reader-'))
    const place = { kind: 'files', directory } as const
    const duck = { memoryBytes: 1 << 27, threads: 1 }
    const program = new URL('../support/late-reader-process.ts', import.meta.url)
    const reader = new ArchiveReader(
      { place, cache: directory, cacheBytes: 1, duck },
      makeLog('silent'),
      program,
    )
    onTestFinished(() => {
      reader.close()
      rmSync(directory, { recursive: true, force: true })
    })
    const file = join(directory, 'answer')
    const query = (select: string) => ({ parts: [], columns: [], select, parameters: [] })
    await reader.ask(query('SELECT 1'), { withinMs: patienceMs })
    const late = reader.ask(query(file), { withinMs: 1 })
    await expect(late).rejects.toThrow(reason('archive_late'))
    const next = reader.ask(query('SELECT 1'), { withinMs: patienceMs })
    await holdsFor(1_800, () => {})
    // This process is too busy to read the answer before the time of the cancelled query is over. What runs after
    // setImmediate is followed by timers, and these by messages.
    await new Promise(setImmediate)
    writeFileSync(file, '')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600)
    expect(await next).toEqual([{ pid: expect.any(Number) }])
  })

  test('reads no more than it may', async () => {
    const archive = new Archive({ turnBytes: 1 } as ConstructorParameters<typeof Archive>[0])
    archive.parts = async () => parts
    const slice = { where: { text: 'true', parameters: [] }, from, to, bucketMs: 1 }
    await expect(archive.counts(slice, parts)).rejects.toThrow(reason('archive_query_large'))
  })

  test.each([
    ['takes too long', undefined],
    ['reads too much', new SliceTooLong('archive_query_large', { bytes: 1 })],
  ])('that %s is asked again for shorter slices, and does not end the page', async (_, refusal) => {
    const slow = (_: unknown, signal?: AbortSignal) =>
      new Promise<never>((_, reject) => {
        if (refusal === undefined) signal?.addEventListener('abort', () => reject(signal.reason))
        else reject(refusal)
      })
    const older = olderDays({ slice: slow, parts: async () => parts, counts: slow, errors: slow } as never)
    const slice = { fromId: '', toId: 'g', from, to }
    const rows = older.rows(
      { filter: { conditions: [] }, slice, order: 'newest', most: 1 },
      { withinMs: 1, signal: undefined },
    )
    await expect(rows).rejects.toThrow(SliceTooLong)
  })

  test('is given up while day after day is being archived', async () => {
    const archive = { parts: async () => parts, counts: async () => undefined }
    const older = olderDays(archive as unknown as Archive)
    const slice = { fromId: '', toId: 'g', from, to }
    const asked = { filter: { conditions: [] }, slice, bucketMs: 1, recent: async () => [] }
    await expect(older.counts(asked, { withinMs: undefined, signal: undefined })).rejects.toThrow(
      reason('archive_changing'),
    )
  })
})
