import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { fileStorage } from '../../src/storage/files.ts'
import type { Reached } from './bed.ts'
import type { ImageTestbed } from './image-testbed.ts'
import { png } from './image-upstream.ts'
import { until } from './until.ts'

/** The price of one image of `draw`. */
export const imageNano = 40_000_000n

/** Wait until all of the jobs have ended. Rejects with their states after `waitMs`. */
export async function allEnded(
  bed: ImageTestbed<Reached>,
  ids: readonly string[],
  waitMs = 45_000,
): Promise<void> {
  let open: object[] | undefined
  const ended = async () => {
    open = await bed.database.sql`
      SELECT id, state, fence, enqueued_at, not_before, leased_until FROM jobs
      WHERE id = ANY (${[...ids]}::uuid[]) AND state IN ('queued', 'running')`.catch(() => undefined)
    return open?.length === 0
  }
  await until(ended, waitMs).catch((error) => {
    const states = JSON.stringify(open)
    throw new Error(`${open?.length} of ${ids.length} jobs have not ended: ${states}`, { cause: error })
  })
}

/**
 * Expect that each job has succeeded and has one row, one charge and all of its images; that no money is held any more;
 * and that the ledger adds up. `wanted`: the number of images of each job, by its id.
 */
export async function expectTruth(
  bed: ImageTestbed<Reached>,
  wanted: ReadonlyMap<string, number>,
): Promise<void> {
  const { sql } = bed.database
  const ids = [...wanted.keys()]
  const jobs = await sql<{ id: string; state: string; result: string | null; cost_nano: string }[]>`
    SELECT id, state, result, cost_nano FROM jobs WHERE id = ANY (${ids}::uuid[])`
  expect(jobs.filter(({ state }) => state !== 'succeeded')).toEqual([])
  expect(jobs.length).toBe(ids.length)
  const rows = await sql<{ id: string; outcome: string; images: number }[]>`
    SELECT id, outcome, images FROM requests WHERE id = ANY (${ids}::uuid[])`
  expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(
    rows.filter(({ id, outcome, images }) => outcome !== 'succeeded' || images !== wanted.get(id)),
  ).toEqual([])
  const charges = await sql<{ id: string; amount_nano: string }[]>`
    SELECT id, amount_nano FROM entries WHERE kind = 'charge' AND id = ANY (${ids}::uuid[])`
  expect(charges.map(({ id, amount_nano }) => `${id} ${amount_nano}`).sort()).toEqual(
    ids.map((id) => `${id} ${-imageNano * BigInt(wanted.get(id) ?? 0)}`).sort(),
  )
  expect(await sql`SELECT id, reserved_nano FROM accounts WHERE reserved_nano <> 0`).toEqual([])
  expect(await bed.differences()).toEqual([])
  for (const { id, result } of jobs) await expectFiles(bed, id, result, wanted.get(id) ?? 0)
}

async function expectFiles(
  bed: ImageTestbed<Reached>,
  id: string,
  result: string | null,
  count: number,
): Promise<void> {
  const { images }: { images: { file: string; bytes: number }[] } = JSON.parse(result ?? '{"images":[]}')
  expect(images.length, id).toBe(count)
  const storage = fileStorage({ directory: imagesOf(bed) })
  for (const { file, bytes } of images) {
    const stored = await storage.open(file)
    expect(stored?.bytes, `${id} ${file}`).toBe(bytes)
    const chunks = (await stored?.stream.toArray()) ?? []
    expect(Buffer.concat(chunks).subarray(0, 8)).toEqual(png().subarray(0, 8))
  }
}

/** Expect that retention deletes all files, also those that a dead worker began. Returns how many it deleted. */
export async function expectAllRemoved(bed: ImageTestbed<Reached>): Promise<number> {
  const directory = imagesOf(bed)
  const tomorrow = new Date(Date.now() + 24 * 3_600_000)
  const removed = await fileStorage({ directory }).removeBefore(tomorrow)
  expect(existsSync(directory) ? readdirSync(directory, { recursive: true }) : []).toEqual([])
  return removed
}

/** How many files are whole, and how many are only begun. */
export function filesOf(bed: ImageTestbed<Reached>): { whole: number; begun: number } {
  const names = readdirSync(imagesOf(bed), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('/'),
  )
  const begun = names.filter((name) => name.endsWith('.part')).length
  return { whole: names.length - begun, begun }
}

function imagesOf(bed: ImageTestbed<Reached>): string {
  return join(bed.api.dataDir, 'images')
}
