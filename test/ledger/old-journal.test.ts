import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { frameHeaderBytes, readFrame, writeCloseFrame, writeOpenFrame } from '../../src/ledger/frame.ts'
import { segmentName } from '../../src/ledger/journal-directory.ts'
import type { CloseRecord, OpenRecord } from '../../src/ledger/record.ts'
import { Shipment } from '../../src/ledger/shipment.ts'
import { TupleWriter, writeAttemptTuple } from '../../src/ledger/tuple.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

/** What a process of the version before wrote, and one of this version finds after the upgrade. */

let home: string
let client: Client
let drop: () => Promise<void>
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-old-journal-'))
  const fresh = await freshDatabase()
  drop = fresh.drop
  client = new Client({ connectionString: fresh.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

function frameOf(write: (out: TupleWriter) => void): Buffer {
  const out = new TupleWriter(1024)
  write(out)
  return Buffer.from(out.buffer.subarray(0, out.length))
}

/** A close frame whose attempts have one column less, their last one. */
function oldClose(open: OpenRecord, close: CloseRecord): Buffer {
  const bare = frameOf((out) => writeCloseFrame(out, open, { ...close, attempts: [] }))
  const tuples = close.attempts.map((attempt, i) => {
    const tuple = frameOf((out) => writeAttemptTuple(out, open.id, i + 1, attempt))
    tuple.writeInt16BE(13)
    return tuple.subarray(0, -5)
  })
  const frame = Buffer.concat([bare, ...tuples])
  frame.writeUInt32LE(frame.length - frameHeaderBytes, 0)
  frame.writeUInt32LE(crc32(frame.subarray(frameHeaderBytes)), 4)
  return frame
}

test('frames of the version before are shipped together with those of this one', async () => {
  const instanceId = randomUUIDv7()
  const directory = join(home, instanceId)
  mkdirSync(directory)
  await client.query(
    `INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) VALUES ($1, 'h', 1, now(), now(), 'live')`,
    [instanceId],
  )
  // Those of one millisecond are in no order.
  const beginning = randomUUIDv7().slice(0, -1)
  const [one, two, three] = [1, 2, 3].map((last) => anOpen({ id: `${beginning}${last}` }))
  if (one === undefined || two === undefined || three === undefined) throw new Error('three requests')
  const attempts = [
    anAttempt({ status: 503, error: { kind: 'upstream_overloaded', message: 'Full \u2603' }, totalMs: null }),
    anAttempt({ channel: 'next', upstreamRequestId: 'req_1' }),
  ]
  const frames = [
    ...[one, two, three].map((open) => frameOf((out) => writeOpenFrame(out, open))),
    oldClose(one, aClose({ attempts })),
    oldClose(two, aClose({ attempts: [] })),
    frameOf((out) =>
      writeCloseFrame(out, three, aClose({ attempts: [anAttempt({ passedOver: true }), anAttempt()] })),
    ),
  ]
  writeFileSync(join(directory, segmentName(0)), Buffer.concat(frames))
  const said: string[] = []
  const shipment = new Shipment({
    directory,
    instanceId,
    growing: false,
    batchBytes: 1024,
    log: relayLog((_level, _fields, message) => void said.push(message)),
  })
  await shipment.resume(client)
  while (await shipment.shipNext(client));
  shipment.close()
  expect(said).toEqual([])
  expect(readdirSync(home)).toEqual([instanceId])
  expect((await client.query('SELECT id FROM requests')).rows).toHaveLength(3)
  const { rows } = await client.query(
    `SELECT request_id, ordinal, channel, status, error_message, total_ms, upstream_request_id, passed_over
     FROM attempts ORDER BY request_id, ordinal`,
  )
  expect(rows).toMatchObject([
    {
      request_id: one.id,
      ordinal: 1,
      status: 503,
      error_message: 'Full \u2603',
      total_ms: null,
      passed_over: false,
    },
    { request_id: one.id, ordinal: 2, channel: 'next', upstream_request_id: 'req_1', passed_over: false },
    { request_id: three.id, ordinal: 1, passed_over: true },
    { request_id: three.id, ordinal: 2, passed_over: false },
  ])
})

test('an old frame that was cut short is read no further than it goes', () => {
  const frame = oldClose(anOpen(), aClose({ attempts: [anAttempt()] }))
  const torn = frame.subarray(0, -3)
  torn.writeUInt32LE(torn.length - frameHeaderBytes, 0)
  torn.writeUInt32LE(crc32(torn.subarray(frameHeaderBytes)), 4)
  expect(readFrame(torn, 0)).toMatchObject({ kind: 'close', bytes: torn.length })
})
