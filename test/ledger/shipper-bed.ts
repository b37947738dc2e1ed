import { randomUUIDv7 } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { Client } from 'pg'
import { expect, onTestFinished, vi } from 'vitest'
import { Journal } from '../../src/journal/journal.ts'
import { claimJournalDirectory, journalDirectory, listJournals } from '../../src/journal/journal-directory.ts'
import type { OpenRecord } from '../../src/journal/record.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { endSessions } from '../../src/shipping/instances.ts'
import { Ownership } from '../../src/shipping/ownership.ts'
import { PositionError, Shipment } from '../../src/shipping/shipment.ts'
import { Shipper } from '../../src/shipping/shipper.ts'
import type { FromShipper, ShipperData, ToShipper } from '../../src/shipping/shipper-messages.ts'
import { Modes } from '../../src/shipping/shipper-modes.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'
import { startWire } from '../support/wire.ts'

const priceNano = 7n
const balanceNano = 1_000_000n
const instanceDeadMs = 3_000
const { enter } = Modes.prototype

/** A shipper in this thread, its process, which writes a journal, and a way to Postgres that a test can break. */
export async function startShipperBed({ intervalMs = 20 } = {}) {
  const root = join(mkdtempSync(join(tmpdir(), 'tollgate-shipper-')), 'journal')
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const { sql } = database
  const wire = await startWire(url)
  const logged: string[] = []
  const log = relayLog((_level, fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`))
  const instanceId = randomUUIDv7()
  const messages: FromShipper[] = []
  const seen: string[] = ['connecting']
  const entered = vi.spyOn(Modes.prototype, 'enter').mockImplementation(function (this: Modes, next) {
    enter.call(this, next)
    seen.push(next.name)
  })
  const { port1, port2 } = new MessageChannel()
  const send = (message: ToShipper) => port1.postMessage(message)
  const ownership = new Ownership({
    root,
    directory: claimJournalDirectory(root, instanceId),
    instanceId,
    instanceDeadMs,
    waitMs: 5_000,
    journalIn: (directory) =>
      new Journal({
        directory,
        sync: 'process',
        segmentBytes: 4_096,
        bytesMax: 2 ** 30,
        onTrouble: () => {},
      }),
    post: send,
    onBegin: () => {},
    onCut: () => {},
    onTrouble: () => {},
    clock: systemClock,
    log,
  })
  port1.on('message', (message: FromShipper) => {
    messages.push(message)
    if (message.type === 'position') ownership.journal.shippedTo(message.position)
    if (message.type === 'live') ownership.confirm(message.token)
    if (message.type === 'gone') ownership.lookAtDirectory()
    if (message.type === 'fenced') ownership.begin(message.instanceId)
    if (message.type === 'carry') ownership.carry(message.frames)
    if (message.type === 'decided') ownership.decide(message.orphaned)
    if (message.type === 'log') log[message.level](message.fields, message.message)
  })
  const data: ShipperData = {
    root,
    instanceId,
    isAway: false,
    durability: 'journal',
    databaseUrl: wire.url,
    pid: process.pid,
    intervalMs,
    batchBytes: 4_096,
    instanceDeadMs,
    instanceLostMs: 60_000,
    onQueryMs: 1_000,
    keepMs: 0,
    keepBytesMax: 0,
  }
  const ended = new Shipper(port2, data, systemClock, () => {}).run()
  const rival = new Client({ connectionString: url })
  await rival.connect()

  const tenantId = randomUUIDv7()
  await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${tenantId}, 'some', 'admin')`
  await sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${tenantId}, true, ${String(balanceNano)})`
  await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${randomUUIDv7()}, ${tenantId}, now(), 'opening', ${String(balanceNano)})`

  onTestFinished(async () => {
    send({ type: 'end', deadlineMs: 0 })
    await ended
    entered.mockRestore()
    port1.close()
    await ownership.end().catch(() => {})
    await rival.end()
    await database.close()
    await drop()
    rmSync(join(root, '..'), { recursive: true, force: true })
  })

  /** Ships a journal as an adopter does. Its process is dead or frozen. */
  const adopt = async (instance: string): Promise<void> => {
    const directory = journalDirectory(root, instance)
    const options = { directory, instanceId: instance, growing: false, batchBytes: 4_096 }
    const shipment = new Shipment({ ...options, clock: systemClock, log })
    await rival.query('SELECT pg_advisory_lock(hashtextextended($1, 7))', [instance])
    await endSessions(rival, instance)
    for (let isMoved = false; ; isMoved = true) {
      try {
        await shipment.resume(rival, isMoved)
        while (await shipment.shipNext(rival));
        await shipment.adopt(rival)
        break
      } catch (error) {
        // The session of its process has committed a batch before it ended.
        if (!(error instanceof PositionError)) throw error
        await rival.query('ROLLBACK')
      }
    }
    await rival.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [instance])
    shipment.close()
  }

  let token = 0
  const running = new Map<string, OpenRecord>()
  const ids: string[] = []
  return {
    sql,
    wire,
    logged,
    ownership,
    /** The modes so far. */
    seen,
    ended,
    send,
    running,
    /** Of all requests that were opened. */
    ids,
    countOf: (type: FromShipper['type']) => messages.filter((message) => message.type === type).length,
    async open(): Promise<OpenRecord> {
      const open = anOpen({ tenantId })
      await ownership.open(open)
      ids.push(open.id)
      running.set(open.id, open)
      return open
    },
    /** Resolves although the client of the request may get an error: its row is written in any case. */
    async close(open: OpenRecord): Promise<void> {
      running.delete(open.id)
      await ownership.close(open, aClose({ accountId: tenantId, costNano: priceNano })).catch(() => {})
    },
    /** Resolves when Postgres has everything that was written before. */
    async shipped(): Promise<void> {
      const own = ++token
      send({ type: 'ship', token: own, everyone: false })
      await vi.waitUntil(
        () => messages.some((message) => message.type === 'shipped' && message.token === own),
        { timeout: 90_000, interval: 10 },
      )
    },
    adopt,
    async end(deadlineMs: number): Promise<void> {
      await ownership.stop()
      send({ type: 'end', deadlineMs })
      await ended
      await ownership.end()
    },
    /** Adopts what the shipper has left, and checks that each request has one row and each charge one entry. */
    async audit(): Promise<{ succeeded: number; orphaned: number }> {
      const done = await sql<{ id: string }[]>`SELECT id FROM instances WHERE state IN ('closed', 'adopted')`
      for (const { instance } of listJournals(root))
        if (!done.some(({ id }) => id === instance)) await adopt(instance)
      const rows = await sql<{ id: string; outcome: string }[]>`SELECT id, outcome FROM requests`
      expect(rows.map(({ id }) => id).sort()).toEqual(ids.toSorted())
      const succeeded = rows.filter(({ outcome }) => outcome === 'succeeded').length
      const [account] = await sql`SELECT balance_nano::int AS left FROM accounts WHERE id = ${tenantId}`
      expect(account?.left).toBe(Number(balanceNano) - Number(priceNano) * succeeded)
      const { findings } = await verifyLedger(sql)
      expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
      expect(logged.filter((line) => /refused|is damaged|is missing/.test(line))).toEqual([])
      return { succeeded, orphaned: rows.length - succeeded }
    },
  }
}
