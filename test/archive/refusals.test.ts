import { describe, expect, test } from 'vitest'
import { makeLog } from '../../src/telemetry/log.ts'
import { Archive } from '../../src/usage/archive/archive.ts'
import { olderDays } from '../../src/usage/archive/older-days.ts'
import type { PartInForce } from '../../src/usage/archive/parts-in-force.ts'
import { ArchiveReader } from '../../src/usage/archive/reader.ts'

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

  test('reads no more than it may', async () => {
    const archive = new Archive({ turnBytes: 1 } as ConstructorParameters<typeof Archive>[0])
    archive.parts = async () => parts
    const slice = { where: { text: 'true', parameters: [] }, from, to, bucketMs: 1 }
    await expect(archive.counts(slice, parts)).rejects.toThrow(reason('archive_query_large'))
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
