import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { Journal } from '../../src/journal/journal.ts'
import { findSetAside, listSetAside } from '../../src/journal/set-aside-folders.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Shipment } from '../../src/shipping/shipment.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'

/** A folder of journals, and a Postgres that refuses rows with `served_model` or `user_agent` "poison". */
export async function startAsideBed() {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-aside-'))
  const root = join(home, 'journal')
  mkdirSync(root)
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const { sql } = database
  const client = new Client({ connectionString: url })
  await client.connect()
  await sql`ALTER TABLE requests ADD CONSTRAINT poison
    CHECK (served_model <> 'poison' AND user_agent IS DISTINCT FROM 'poison')`
  const logged: string[] = []
  const log = relayLog((_level, fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`))

  return {
    home,
    root,
    url,
    database,
    client,
    logged,
    /** A limited tenant with this many nano-USD. */
    async aTenant(balanceNano: bigint, name = 'some'): Promise<string> {
      const id = randomUUIDv7()
      await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${id}, ${name}, 'admin')`
      await sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, true, ${String(balanceNano)})`
      await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
        VALUES (${randomUUIDv7()}, ${id}, now(), 'opening', ${String(balanceNano)})`
      return id
    },
    /** The journal of a process on another machine. */
    async aJournal(write: (journal: Journal) => Promise<void>, segmentBytes = 2 ** 24) {
      const instance = randomUUIDv7()
      const directory = join(root, instance)
      mkdirSync(directory)
      writeFileSync(join(directory, 'owner.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }))
      const bounds = { segmentBytes, bytesMax: 2 ** 30 }
      const journal = new Journal({ directory, sync: 'process', ...bounds, onTrouble: () => {} })
      await write(journal)
      await journal.end()
      return { instance, directory }
    },
    /** Ship it, and adopt it: what it leaves open is orphaned. */
    async adopt({ instance, directory }: { instance: string; directory: string }): Promise<number> {
      const shipment = new Shipment({
        directory,
        instanceId: instance,
        growing: false,
        batchBytes: 4_096,
        clock: systemClock,
        log,
      })
      await shipment.resume(client)
      while (await shipment.shipNext(client));
      const orphans = await shipment.adopt(client)
      shipment.close()
      return orphans.length
    },
    /** The only frame that was set aside. */
    theAside() {
      const [one] = listSetAside(root, Date.now())
      if (one === undefined) throw new Error('nothing was set aside')
      return findSetAside(root, one.id, Date.now())
    },
    async broken(): Promise<string[]> {
      const { findings } = await verifyLedger(sql)
      return findings.filter(({ differences }) => differences > 0).flatMap(({ samples }) => samples)
    },
    async close() {
      await client.end()
      await database.close()
      await drop()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

export type AsideBed = Awaited<ReturnType<typeof startAsideBed>>
