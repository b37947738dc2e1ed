import { randomUUIDv7 } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AnswerCapture } from '../../src/journal/answer-capture.ts'
import { answerSegmentPath, listAnswerSegments } from '../../src/journal/answer-files.ts'
import { AnswerJournal } from '../../src/journal/answer-journal.ts'
import type { AnswerRecord } from '../../src/journal/answer-record.ts'
import { listSegments } from '../../src/journal/journal-directory.ts'
import { AnswerShipment } from '../../src/shipping/answer-shipment.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'

let home: string
let client: Client
let drop: () => Promise<void>
let logged: string[]
let clock: ManualClock
const log = relayLog((_level, _fields, message) => void logged.push(message))
beforeEach(async () => {
  logged = []
  clock = manualClock()
  home = fs.mkdtempSync(join(tmpdir(), 'tollgate-answers-'))
  const fresh = await freshDatabase()
  drop = fresh.drop
  client = new Client({ connectionString: fresh.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await drop()
  fs.rmSync(home, { recursive: true, force: true })
})

const anAnswer = (text = 'Hello "wörld"\\ {1}', truncated = false): AnswerRecord => ({
  id: randomUUIDv7(),
  capture: 'content',
  truncated,
  answer: Buffer.from(JSON.stringify({ text })),
})
const journalOf = (segmentBytes = 1024 * 1024) => new AnswerJournal({ directory: home, segmentBytes })
const shipmentOf = (growing: boolean, batchBytes = 64 * 1024) =>
  new AnswerShipment({ directory: home, growing, batchBytes, clock, log })
const shipAll = async (shipment: AnswerShipment) => {
  while (await shipment.shipNext(client));
}
const kept = async () =>
  (
    await client.query(
      'SELECT request_id, capture, truncated, answer FROM request_answers ORDER BY request_id',
    )
  ).rows
const rowsOf = (records: AnswerRecord[]) =>
  records
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, capture, truncated, answer }) => ({
      request_id: id,
      capture,
      truncated,
      answer: Buffer.from(answer).toString(),
    }))

test('answers go through their segments to Postgres, at the moment of their request, and shipped segments are deleted', async () => {
  const journal = journalOf(300)
  const records = [anAnswer(), anAnswer('b', true), anAnswer('c'.repeat(500)), anAnswer()]
  for (const record of records) expect(journal.write(record)).toBeUndefined()
  expect(listAnswerSegments(home).length).toBeGreaterThan(1)
  const shipment = shipmentOf(true, 256)
  await shipAll(shipment)
  expect(await kept()).toEqual(rowsOf(records))
  journal.shippedTo(shipment.position)
  expect(journal.bytes).toBe(0)
  expect(shipment.hasMore).toBe(false)
  expect(listAnswerSegments(home).length).toBe(1)
  const { rows } = await client.query(
    'SELECT count(*)::int AS n FROM request_answers WHERE created_at = uuid_moment(request_id)',
  )
  expect(rows).toEqual([{ n: 4 }])
  const later = anAnswer('later')
  journal.write(later)
  await shipAll(shipment)
  expect(await kept()).toEqual(rowsOf([...records, later]))
})

test('a lost position, another shipper and an answer that is there already double nothing', async () => {
  const journal = journalOf()
  const records = [anAnswer(), anAnswer(), anAnswer()]
  for (const record of records) journal.write(record)
  await shipAll(shipmentOf(true))
  fs.rmSync(join(home, 'answers.json'))
  await shipAll(shipmentOf(true))
  fs.writeFileSync(join(home, 'answers.json'), '{"segm')
  const late = anAnswer()
  journal.write(late)
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf([...records, late]))
  expect(logged).toEqual([])
})

test('a shipper that begins anew ships only what Postgres does not have: a deleted answer does not come back', async () => {
  const journal = journalOf()
  journal.write(anAnswer('erased'))
  await shipAll(shipmentOf(true))
  await client.query('DELETE FROM request_answers')
  const late = anAnswer('late')
  journal.write(late)
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf([late]))
})

test('a torn frame at the end, and a flipped bit, cost only what comes after them in their segment', async () => {
  const journal = journalOf(200)
  const records = ['a', 'b', 'c'].map((text) => anAnswer(text.repeat(200)))
  for (const record of records) journal.write(record)
  const [first, second, third] = [0, 1, 2].map((segment) => answerSegmentPath(home, segment))
  if (first === undefined || second === undefined || third === undefined) throw new Error('no segments')
  const bytes = fs.readFileSync(second)
  bytes[40] = (bytes[40] ?? 0) ^ 1
  fs.writeFileSync(second, bytes)
  fs.truncateSync(third, fs.statSync(third).size - 1)
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf(records.slice(0, 1)))
  expect(logged).toHaveLength(2)
  expect(listAnswerSegments(home)).toEqual([])
})

test('an answer that Postgres refuses for what it is keeps no other one waiting', async () => {
  const journal = journalOf()
  const records = [anAnswer('good'), anAnswer('poison'), anAnswer('fine')]
  for (const record of records) journal.write(record)
  await client.query(`ALTER TABLE request_answers ADD CONSTRAINT poison CHECK (answer NOT LIKE '%poison%')`)
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf(records.filter((_, at) => at !== 1)))
  expect(logged).toEqual(['Postgres refused a captured answer; it is skipped'])
})

test('a Postgres that refuses all answers stops no row: they wait for the next try', async () => {
  const journal = journalOf()
  journal.write(anAnswer())
  await client.query('ALTER TABLE request_answers RENAME TO elsewhere')
  const shipment = shipmentOf(true)
  expect(await shipment.shipNext(client)).toBe(false)
  expect(await shipment.shipNext(client)).toBe(false)
  expect(logged).toEqual(['captured answers cannot be shipped now; this will be retried'])
  expect(shipment.hasMore).toBe(true)
  await client.query('ALTER TABLE elsewhere RENAME TO request_answers')
  clock.pass(59_999)
  expect(await shipment.shipNext(client)).toBe(false)
  clock.pass(1)
  expect(await shipment.shipNext(client)).toBe(true)
  expect(shipment.hasMore).toBe(false)
})

test('the files of answers are not segments of the journal', () => {
  journalOf().write(anAnswer())
  expect(fs.readdirSync(home)).toEqual(['answers-00000000.seg'])
  expect(listSegments(home)).toEqual([])
})

test('answers are dropped and counted from the alarm of the journal on, both together, and kept again below it', async () => {
  let journalBytes = 0
  let trouble: string | undefined
  const answers = new AnswerCapture({
    directory: () => home,
    journal: () => ({ journalBytes, trouble }),
    bounds: { journalSegmentBytes: 1024 * 1024, journalAlarmBytes: 1_000 },
    clock,
    log,
  })
  answers.keep(anAnswer())
  expect(answers.dropped).toBe(0)
  journalBytes = 1_000 - answers.bytes
  answers.keep(anAnswer())
  answers.keep(anAnswer())
  expect(answers.dropped).toBe(2)
  expect(logged).toEqual(['captured answers are dropped; the rows of their requests are kept'])
  journalBytes = 0
  trouble = 'no space left on device'
  answers.keep(anAnswer())
  expect(answers.dropped).toBe(3)
  expect(logged).toHaveLength(1)
  clock.pass(60_000)
  answers.keep(anAnswer())
  expect(answers.dropped).toBe(4)
  expect(logged).toHaveLength(2)
  trouble = undefined
  answers.keep(anAnswer())
  expect(answers.dropped).toBe(4)
  await shipAll(shipmentOf(true))
  expect(await kept()).toHaveLength(2)
})

test('a disk that takes half a frame leaves whole frames only, and the answer is counted', async () => {
  let isFull = false
  const disk = {
    openSync: fs.openSync,
    ftruncateSync: fs.ftruncateSync,
    writeSync: (fd: number, bytes: Buffer, at: number, length: number, position: number) => {
      if (!isFull) return fs.writeSync(fd, bytes, at, length, position)
      if (at > 0) throw new Error('ENOSPC')
      return fs.writeSync(fd, bytes, at, 10, position)
    },
  }
  const journal = new AnswerJournal({
    directory: home,
    segmentBytes: 1024 * 1024,
    disk: { ...fs, ...disk } as typeof fs,
  })
  const records = [anAnswer('a'), anAnswer('b')]
  for (const [at, record] of records.entries()) {
    expect(journal.write(record)).toBeUndefined()
    isFull = at === 0
    if (isFull) expect(journal.write(anAnswer('never'))).toBeInstanceOf(Error)
    isFull = false
  }
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf(records))
})

test('a deleted segment is begun anew', async () => {
  const journal = journalOf()
  journal.write(anAnswer('gone'))
  for (const name of fs.readdirSync(home)) fs.rmSync(join(home, name))
  const record = anAnswer('after')
  expect(journal.write(record)).toBeUndefined()
  await shipAll(shipmentOf(false))
  expect(await kept()).toEqual(rowsOf([record]))
})
