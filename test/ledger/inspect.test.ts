import { randomUUIDv7 } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrame } from '../../src/journal/frame.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { claimJournalDirectory, segmentName } from '../../src/journal/journal-directory.ts'
import { inspectLedger } from '../../src/ledger-tools/inspection.ts'
import { inspectionText } from '../../src/ledger-tools/inspection-text.ts'
import { aClose, anOpen } from '../support/records.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { type AsideBed, startAsideBed } from './aside-bed.ts'

/** `npm run ledger:inspect`: what is in a folder of journals, without changing it. */

let bed: AsideBed
beforeEach(async () => {
  bed = await startAsideBed()
})
afterEach(() => bed.close())

test('a journal is shown with its frames, its rows, its position in Postgres and what is not shipped', async () => {
  const journal = await bed.aJournal(async (journal) => {
    await someRows(journal, 5)
    await journal.open(anOpen())
  })
  const before = filesIn(bed.root)
  const first = await inspectJson()
  expect(first).toMatchObject({ code: 0, json: { files_only: null, set_aside: [] } })
  const [found] = first.json.journals
  expect(found).toMatchObject({
    instance: journal.instance,
    owner: 'elsewhere',
    segments: [{ segment: 0, bytes: found.bytes }],
    frames: 11,
    rows_complete: 5,
    rows_open: 1,
    columns: { layout: 'own', unknown: [], missing: [] },
    shipped_at: null,
    tail_bytes: 0,
    damaged: [],
    error: null,
    postgres: {
      state: null,
      heartbeat_at: null,
      segment: null,
      position: null,
      unshipped_bytes: found.bytes,
    },
  })
  // It has changed nothing.
  expect(filesIn(bed.root)).toEqual(before)

  await bed.database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${journal.instance}, 'elsewhere', 1, now(), now(), 'live')`
  await bed.database.sql`INSERT INTO journal_positions VALUES (${journal.instance}, 0, 100)`
  const postgres = { state: 'live', segment: 0, position: 100, unshipped_bytes: found.bytes - 100 }
  expect((await inspectJson()).json.journals[0].postgres).toMatchObject(postgres)
  await bed.database.sql`DELETE FROM journal_positions`
  await bed.adopt(journal)
  expect((await inspectJson()).json.journals[0].postgres).toMatchObject({
    state: 'adopted',
    unshipped_bytes: 0,
  })
})

test('without Postgres it looks at files only, and says so', async () => {
  await bed.aJournal((journal) => someRows(journal, 2))
  const without = await runTollgate(['ledger', 'inspect', '--json'], { DATA_DIR: bed.home })
  expect(JSON.parse(without.output)).toMatchObject({
    files_only: 'DATABASE_URL is not set.',
    journals: [{ postgres: null, rows_complete: 2 }],
  })
  const away = await runTollgate(['ledger', 'inspect', bed.root], {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  })
  expect(away.code).toBe(0)
  expect(away.output).toContain('Files only, without Postgres: connect ECONNREFUSED 127.0.0.1:1')
})

test('a flipped frame is shown with its place, and with the request, tenant and model that can be determined', async () => {
  const tenantId = await bed.aTenant(0n, 'acme')
  const hit = anOpen({ tenantId, requestedModel: 'gpt-hit' })
  const journal = await bed.aJournal(async (journal) => {
    await someRows(journal, 2)
    await journal.open(hit)
    await journal.close(hit, aClose())
    await someRows(journal, 2)
  })
  const path = join(journal.directory, segmentName(0))
  const bytes = readFileSync(path)
  const places = framePlaces(bytes)
  // In the texts of the open frame, and in the length of the close frame.
  const [open, close] = places.slice(4, 6)
  if (open === undefined || close === undefined) throw new Error('no frames')
  bytes[open.at + open.bytes - 3] = 0xff
  writeFileSync(path, bytes)
  const flipped = {
    at: 0,
    bytes: open.bytes,
    kind: 'open',
    request: hit.id,
    tenant: tenantId,
    model: 'gpt-hit',
  }
  const stretch = { segment: 0, at: open.at, bytes: open.bytes, frames: [flipped] }
  expect(await inspectJson()).toMatchObject({
    code: 1,
    json: { journals: [{ damaged: [stretch], frames: 9 }] },
  })

  bytes[close.at + 2] = 0xff
  writeFileSync(path, bytes)
  const both = await inspectJson()
  expect(both.json.journals[0].damaged).toEqual([
    {
      segment: 0,
      at: open.at,
      bytes: open.bytes + close.bytes,
      frames: [
        flipped,
        { at: open.bytes, bytes: close.bytes, kind: 'close', request: hit.id, tenant: null, model: null },
      ],
    },
  ])

  // Adoption sets the damaged bytes aside: the same is told of them.
  await bed.adopt(journal)
  const { json } = await inspectJson()
  expect(json.set_aside).toMatchObject([
    {
      id: `${journal.instance}-0-${open.at}`,
      reason: 'damaged',
      bytes: open.bytes + close.bytes,
      tenant_name: 'acme',
      content: { kind: 'damaged', frames: both.json.journals[0].damaged[0].frames },
    },
  ])
  const replayed = await runTollgate(['ledger', 'replay', json.set_aside[0].id], environment())
  expect(replayed).toMatchObject({
    code: 1,
    output: expect.stringContaining('not a frame: they cannot be put back'),
  })
})

test('a frame that was set aside is shown with its request, tenant, charge and reason, and as put back afterwards', async () => {
  const tenantId = await bed.aTenant(5_000n, 'acme')
  const open = anOpen({ tenantId })
  await bed.adopt(
    await bed.aJournal(async (journal) => {
      await journal.open(open)
      await journal.close(open, aClose({ servedModel: 'poison', accountId: tenantId, costNano: 2_000n }))
    }),
  )
  const { code, json } = await inspectJson()
  expect(code).toBe(1)
  expect(json.set_aside).toMatchObject([
    {
      id: bed.theAside().id,
      folder: bed.theAside().folder,
      reason: expect.stringContaining('violates check constraint'),
      set_aside_at: expect.stringMatching(/^20.*Z$/),
      replayed_at: null,
      tenant_name: 'acme',
      content: {
        kind: 'row',
        request: open.id,
        row: { requested_model: 'gpt-main', served_model: 'poison', cost_nano: '2000' },
        charge: { account: tenantId, nano: '2000' },
      },
    },
  ])
  await runTollgate(['ledger', 'replay', open.id, '--set', 'served_model=good'], environment())
  const after = await inspectJson()
  expect(after).toMatchObject({
    code: 0,
    json: { set_aside: [{ replayed_at: expect.stringMatching(/Z$/) }] },
  })
})

test('a journal that is being written, of another release, or not readable, is reported as such', async () => {
  const own = claimJournalDirectory(bed.root, randomUUIDv7())
  const written = await bed.aJournal((journal) => someRows(journal, 3))
  cpSync(join(written.directory, 'columns.json'), join(own, 'columns.json'))
  const bytes = readFileSync(join(written.directory, segmentName(0)))
  writeFileSync(join(own, segmentName(0)), bytes.subarray(0, bytes.length - 7))
  const columns = JSON.parse(readFileSync(join(written.directory, 'columns.json'), 'utf8'))
  columns.open.push('a_later_column')
  columns.attempts = columns.attempts.filter((name: string) => name !== 'reason')
  writeFileSync(join(written.directory, 'columns.json'), JSON.stringify(columns))
  const broken = await bed.aJournal((journal) => someRows(journal, 1))
  writeFileSync(join(broken.directory, 'columns.json'), '{"open":')
  // A segment that another process deletes while this one looks.
  rmSync(join(broken.directory, segmentName(0)))

  const { json, code } = await inspectJson()
  const of = (name: string) => json.journals.find(({ folder }: { folder: string }) => folder === name)
  expect(of(own)).toMatchObject({ owner: 'alive', damaged: [], rows_complete: 2, rows_open: 1, error: null })
  expect(of(own).tail_bytes).toBeGreaterThan(0)
  expect(of(written.directory).columns).toEqual({
    layout: 'other',
    unknown: ['a_later_column'],
    missing: ['attempts.reason'],
  })
  expect(of(broken.directory).error).toContain('JSON')
  expect(code).toBe(1)
})

test('the text has at most 100 columns and no control characters, whatever clients sent', async () => {
  const tenantId = await bed.aTenant(5_000n, 'a tenant')
  const open = anOpen({ tenantId, requestedModel: `\u001b[2J${'x'.repeat(250)}` })
  const journal = await bed.aJournal(async (journal) => {
    await someRows(journal, 3)
    await journal.open(open)
    await journal.close(open, aClose({ servedModel: 'poison', costNano: 2_000n, accountId: tenantId }))
  }, 100)
  writeFileSync(join(journal.directory, segmentName(0)), Buffer.alloc(400, 7), { flag: 'a' })
  await bed.adopt(journal)
  renameSync(journal.directory, join(bed.root, randomUUIDv7()))
  const text = inspectionText(await inspectLedger(bed.root, Date.now(), bed.database.sql))
  for (const line of text.split('\n')) {
    expect(line.length, line).toBeLessThanOrEqual(100)
    expect(line).toMatch(/^\P{C}*$/u)
  }
  expect(text).toContain('  tenant    a tenant\n')
  expect(text).toContain('DAMAGED')
})

test('a folder that is not there, and two folders, are refused with exit code 2', async () => {
  const missing = await runTollgate(['ledger', 'inspect', join(bed.home, 'nothing')], {})
  expect(missing).toMatchObject({
    code: 2,
    errors: expect.stringContaining('does not exist. Name the folder'),
  })
  const two = await runTollgate(['ledger', 'inspect', bed.root, bed.root], {})
  expect(two).toMatchObject({ code: 2, errors: expect.stringContaining('too many arguments') })
})

const environment = () => ({ DATABASE_URL: bed.url, DATA_DIR: bed.home })

async function inspectJson() {
  const { code, output, errors } = await runTollgate(['ledger', 'inspect', '--json'], environment())
  if (output === '') throw new Error(errors)
  return { code, json: JSON.parse(output) }
}

async function someRows(journal: Journal, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const open = anOpen()
    await journal.open(open)
    await journal.close(open, aClose({ costNano: null }))
  }
}

function framePlaces(bytes: Buffer): { at: number; bytes: number }[] {
  const places: { at: number; bytes: number }[] = []
  for (let at = 0; at < bytes.length; ) {
    const frame = readFrame(bytes, at)
    if (typeof frame === 'string') throw new Error(frame)
    places.push({ at, bytes: frame.bytes })
    at += frame.bytes
  }
  return places
}

/** Names and contents of all files below a folder. */
function filesIn(folder: string): [string, string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, readFileSync(path, 'latin1')]
    })
}
