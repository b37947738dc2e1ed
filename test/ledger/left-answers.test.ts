import { randomUUIDv7 } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { AnswerJournal } from '../../src/journal/answer-journal.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** Captured answers of an adopted journal that Postgres refused while it was adopted. */

let home: string
let url: string
let drop: () => Promise<void>
let database: Database
let logged: string[]
let ledger: Ledger | undefined
beforeEach(async () => {
  logged = []
  home = mkdtempSync(join(tmpdir(), 'tollgate-left-answers-'))
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
})
afterEach(async () => {
  await ledger?.end(2_000)
  await database.close()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

function startLedger(): Ledger {
  return Ledger.start({
    ...{
      dataDir: home,
      databaseUrl: url,
      instanceId: randomUUIDv7(),
      durability: 'journal',
      sync: 'process',
    },
    bounds: readConfig({ SHIP_INTERVAL_MS: '20', INSTANCE_DEAD_MS: '1000', JOURNAL_KEEP_MS: '0' }).bounds,
    clock: systemClock,
    log: relayLog((_level, fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`)),
    onCut: () => {},
  })
}

/** The directory of a process of another machine, with its row in Postgres. */
async function aJournal(state: 'live' | 'closed'): Promise<string> {
  const instance = randomUUIDv7()
  const directory = join(home, 'journal', instance)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'owner.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }))
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', ${state})`
  return directory
}

test('the rows of an adopted journal do not wait for them, and they come when Postgres takes them again', async () => {
  const directory = await aJournal('live')
  const id = randomUUIDv7()
  const answers = new AnswerJournal({ directory, segmentBytes: 1024 })
  answers.write({ id, capture: 'content', truncated: false, answer: Buffer.from('{"text":"Hello"}') })
  answers.close()
  await database.sql`ALTER TABLE request_answers RENAME TO elsewhere`

  ledger = startLedger()
  await until(() => logged.some((line) => line.startsWith('adopted the journal')))
  expect(logged.filter((line) => line.startsWith('captured answers cannot be shipped now'))).toHaveLength(1)
  // All journals that were there before were looked at when this one is gone.
  const later = await aJournal('closed')
  await until(() => !existsSync(later))
  expect(existsSync(directory)).toBe(true)

  await ledger.end(5_000)
  await database.sql`ALTER TABLE elsewhere RENAME TO request_answers`
  ledger = startLedger()
  await until(() => !existsSync(directory))
  expect(await database.sql`SELECT request_id, answer FROM request_answers`).toEqual([
    { request_id: id, answer: '{"text":"Hello"}' },
  ])
})
