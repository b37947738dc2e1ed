import { randomUUIDv7 } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { Client } from 'pg'
import { Journal } from '../src/journal/journal.ts'
import { claimJournalDirectory } from '../src/journal/journal-directory.ts'
import type { CloseRecord, OpenRecord } from '../src/journal/record.ts'
import { systemClock } from '../src/runtime/clock.ts'
import type { Disk } from '../src/runtime/disk.ts'
import { Shipment } from '../src/shipping/shipment.ts'
import { relayLog } from '../src/telemetry/relay-log.ts'
import { median, percentile } from './percentile.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * What one request's row costs before Postgres has it: `node runtime.cjs bench/ledger.ts [requests] [rounds]`.
 *
 * Two figures, each the CPU time of this thread in microseconds for one request, so that other programs on the machine
 * count little; median and fastest tenth of the rounds:
 *
 *   write   an open and a close through the journal, 16 requests in flight, on a disk that takes everything at once
 *   ship    the same frames, read back from a real segment and made into COPYs, for a Postgres that takes all at once
 *
 * The requests are those of a small chat: one key, one attempt, a body of 120 bytes.
 */
async function main(): Promise<void> {
  const requests = Number(process.argv[2] ?? 20_000)
  const rounds = Number(process.argv[3] ?? 31)
  const home = fs.mkdtempSync(join(tmpdir(), 'tollgate-ledger-bench-'))
  try {
    const records = Array.from({ length: requests }, (_, i) => aRequest(i))
    const bytes = await writeAll(home, fs, records)
    const [name = ''] = fs.readdirSync(home)
    const write: number[] = []
    const ship: number[] = []
    for (let round = 0; round < rounds; round++) {
      write.push(await cpuOf(() => writeAll(home, endless, records)))
      ship.push(await cpuOf(() => shipAll(join(home, name), requests)))
    }
    console.log(`${requests} requests a round, ${rounds} rounds, ${(bytes / requests).toFixed(0)} bytes each`)
    print('write', write, requests)
    print('ship', ship, requests)
  } finally {
    fs.rmSync(home, { recursive: true })
  }
}

/** CPU time of this thread, in microseconds. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return user + system
}

function print(name: string, samplesUs: readonly number[], requests: number): void {
  const each = samplesUs.map((us) => us / requests)
  console.log(
    `${name.padEnd(6)} median ${median(each).toFixed(2)} us  fastest tenth ${percentile(each, 0.1).toFixed(2)} us`,
  )
}

const inFlight = 16

/** Returns how many bytes the journal holds. */
async function writeAll(home: string, disk: Disk, records: readonly Request[]): Promise<number> {
  const directory = claimJournalDirectory(home, randomUUIDv7())
  const journal = new Journal({
    directory,
    sync: 'process',
    segmentBytes: 2 ** 32,
    bytesMax: 2 ** 40,
    onTrouble: (message) => console.log(message ?? 'the journal works again'),
    disk,
  })
  for (let at = 0; at < records.length; at += inFlight) {
    const some = records.slice(at, at + inFlight)
    await Promise.all(some.map(({ open }) => journal.open(open)))
    await Promise.all(some.map(({ open, close }) => journal.close(open, close)))
  }
  const { bytes } = journal
  await journal.end()
  if (disk !== fs) fs.rmSync(directory, { recursive: true })
  return bytes
}

/** Takes everything at once and keeps nothing. */
const endless: Disk = {
  ...fs,
  writeSync: (_fd, _bytes, _at, length) => length,
}

async function shipAll(directory: string, requests: number): Promise<void> {
  const shipment = new Shipment({
    directory,
    instanceId: randomUUIDv7(),
    growing: true,
    batchBytes: 4 * 1024 * 1024,
    clock: systemClock,
    log: relayLog((_level, _fields, message) => console.log(message)),
  })
  let took = 0
  const connection = Object.assign(new Client(), {
    query: (asked: unknown) => {
      if (typeof asked !== 'object' || asked === null || !('submit' in asked)) {
        return Promise.resolve({ rows: [], rowCount: 1 })
      }
      return new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          took += chunk.length
          done()
        },
      })
    },
  })
  await shipment.resume(connection)
  while (await shipment.shipNext(connection));
  shipment.close()
  if (took < requests * 100 || shipment.openCount > 0) throw new Error('not everything was shipped')
}

interface Request {
  open: OpenRecord
  close: CloseRecord
}

const tenantId = randomUUIDv7()
const keyId = randomUUIDv7()
const groupId = randomUUIDv7()
const priceId = randomUUIDv7()

function aRequest(i: number): Request {
  const open: OpenRecord = {
    id: randomUUIDv7(),
    tenantId,
    keyId,
    groupId,
    endpoint: '/v1/chat/completions',
    clientProtocol: 'openai-chat',
    // A new string for each request, like one that is read from its body.
    requestedModel: ['gpt', 'main'].join('-'),
    stream: i % 2 === 0,
    clientAddress: '10.20.30.40',
    userAgent: ['OpenAI/JS', '7.55.0'].join(' '),
    idempotencyKey: null,
    reservedAccountId: null,
    capture: 'content',
    body: Buffer.from(
      `{"model":"gpt-main","messages":[{"role":"user","content":"Say something short about ${i}."}]}`,
    ),
  }
  const close: CloseRecord = {
    upstreamProtocol: 'openai-chat',
    servedModel: ['gpt', 'main', '2026-01-01'].join('-'),
    channel: 'main',
    status: 200,
    outcome: 'succeeded',
    error: null,
    finishReason: 'stop',
    usage: { input: 9 + i, cacheRead: 0, cacheWrite: 0, output: 12, reasoning: 0 },
    usageSource: 'upstream',
    streamEnd: 'complete',
    costNano: 142_500n + BigInt(i),
    accountId: tenantId,
    priceId,
    priceMultiplier: '1',
    queueMs: 0,
    firstTokenMs: 1,
    totalMs: 2,
    upstreamRequestId: `req_${randomUUIDv7().replaceAll('-', '')}`,
    attempts: [
      {
        channel: 'main',
        upstreamProtocol: 'openai-chat',
        upstreamModel: 'gpt-upstream',
        reason: 'only candidate',
        passedOver: false,
        status: 200,
        error: null,
        firstByteMs: 1,
        totalMs: 2,
        upstreamRequestId: null,
      },
    ],
    notes: null,
    folded: 1,
  }
  return { open, close }
}

await main()
