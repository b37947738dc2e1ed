import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { formerCommit } from '../../src/db/schema-version.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { emptyDatabase, openDatabase } from '../support/database.ts'
import { catalogOf, rowsOf } from '../support/database-contents.ts'
import { checkOut } from '../support/former-release.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { patient, temporary } from './several.ts'

/** What versions before the first release have left: none of them is upgraded, and one is taken over. */

/** Its migrations are fewer than those of `formerCommit`. */
const olderCommit = '120e7d62'
const checkouts = new Map<string, ReturnType<typeof checkOut>>()
beforeAll(() => {
  for (const commit of [formerCommit, olderCommit]) checkouts.set(commit, checkOut(commit))
}, 180_000)
afterAll(() => {
  for (const checkout of checkouts.values()) checkout.remove()
})

const bothWays = new RegExp(
  `Nothing was changed\\. Either start commit ${formerCommit} with it.*run \`tollgate migrate\`.*or start with an empty DATA_DIR`,
)

test('a start on a folder or a database of an older commit, with rows not shipped, changes nothing, exits 1 and names both ways', async () => {
  const bed = await startBed()
  await bed.dieUnshipped(olderCommit)
  const before = await bed.state()

  const onBoth = await refusalOf(bed.start({}))
  expect(onBoth).toMatch(/Tollgate cannot start: .*not shipped: \S+\/journal\/[0-9a-f-]{36}\.2/)
  expect(onBoth).toMatch(bothWays)
  const otherFolder = temporary()
  const onDatabase = await refusalOf(bed.start({ dataDir: otherFolder }))
  expect(onDatabase).toMatch(/Tollgate cannot start: .*\(the database\)/)
  expect(onDatabase).toMatch(bothWays)
  expect(filesIn(otherFolder)).toEqual({})
  const migrated = await bed.migrate()
  expect(migrated).toMatchObject({ code: 1, errors: expect.stringMatching(bothWays) })
  expect(migrated.errors).toContain(`the schema of the database is not that of commit ${formerCommit}`)
  expect(await bed.state()).toEqual(before)
}, 300_000)

test(`tollgate migrate takes over the schema of ${formerCommit} with its rows, once its journals are shipped`, async () => {
  const bed = await startBed()
  await bed.dieUnshipped(formerCommit)
  const before = await bed.state()
  const refused = await bed.migrate()
  expect(refused).toMatchObject({ code: 1, errors: expect.stringMatching(bothWays) })
  expect(refused.errors).toMatch(/process \d+ on \S+ is live.*\.2 has not been shipped/)
  expect(await bed.state()).toEqual(before)

  const former = await bed.start({ commit: formerCommit, env: { INSTANCE_DEAD_MS: '1000' } })
  await call(former.url)
  const { sql } = bed.database
  await until(async () => (await sql`SELECT FROM instances WHERE state = 'adopted'`).length === 1)
  expect(await former.stop()).toBe(0)
  const rows = await sql`SELECT id, outcome, cost_nano FROM requests ORDER BY id`
  expect(rows).toHaveLength(2)
  expect(await bed.migrate()).toMatchObject({ code: 0, output: expect.stringContaining('taken over') })
  expect(await sql`SELECT id, outcome, cost_nano FROM requests ORDER BY id`).toEqual(rows)
  expect(await bed.migrate()).toMatchObject({ code: 0, errors: 'There is nothing to do.\n' })

  const empty = await startBed()
  const [upgraded] = await Promise.all([bed.start({}), empty.start({})])
  // The upkeep of both builds indexes of the entries, and closes their first month.
  await expect
    .poll(() => catalogOf(sql), patient)
    .toEqual(await until(async () => withUpkeep(await catalogOf(empty.database.sql))))
  const migrations = (of: typeof sql) => of`SELECT hash, created_at FROM drizzle.__drizzle_migrations`
  expect(await migrations(sql)).toEqual(await migrations(empty.database.sql))

  await call(upgraded.url)
  expect(await upgraded.stop()).toBe(0)
  expect(await sql`SELECT FROM requests`).toHaveLength(3)
  const { findings } = await verifyLedger(sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
}, 300_000)

async function startBed() {
  const [{ url, drop }, upstream] = await Promise.all([emptyDatabase(), startUpstream()])
  const database = openDatabase(url, { max: 1 })
  const home = temporary()
  onTestFinished(async () => {
    await database.close()
    await upstream.close()
    await drop()
  })
  const bed = {
    url,
    database,
    /** A process of this commit answers a request, and is killed before Postgres has its row. */
    async dieUnshipped(commit: string): Promise<void> {
      const tollgate = await bed.start({ commit })
      await database.sql.begin(async (tx) => {
        await tx`LOCK TABLE requests`
        await call(tollgate.url)
        await tollgate.kill9()
        // Their server would do what they have asked for when the lock is free.
        await tx`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`
      })
      expect(await database.sql`SELECT FROM requests`).toEqual([])
    },
    state: async () => ({
      files: filesIn(home),
      catalog: await catalogOf(database.sql),
      rows: await rowsOf(database.sql),
    }),
    migrate: () =>
      runTollgate(['migrate', '--yes'], { DATABASE_URL: url, DATA_DIR: home, SECRET_KEY: secretKey }),
    /** Of this version, or of a commit. */
    async start({ commit, ...options }: { commit?: string; dataDir?: string; env?: Record<string, string> }) {
      const directory = commit === undefined ? undefined : checkouts.get(commit)?.directory
      const tollgate = await startTollgate({
        ...(directory !== undefined && { directory }),
        databaseUrl: url,
        dataDir: options.dataDir ?? home,
        gatewayYaml: gatewayYaml(upstream.url),
        env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...options.env },
      })
      onTestFinished(() => tollgate.kill9())
      return tollgate
    },
  }
  return bed
}

function withUpkeep(catalog: string[]): string[] | undefined {
  const has = (part: string) => catalog.some((line) => line.includes(part))
  return has('count_late_entry AFTER INSERT') &&
    has('INDEX entries_default_by_hand') &&
    has('INDEX entries_before_by_hand')
    ? catalog
    : undefined
}

async function refusalOf(start: Promise<unknown>): Promise<string> {
  return await start.then(
    () => 'it has started',
    (error: Error) => error.message,
  )
}

async function call(url: string): Promise<void> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
    body: JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'hello' }] }),
  })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
}

/** By path: the hash of each file. */
function filesIn(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
  return Object.fromEntries(paths.sort().map((path) => [path, hashOf(path)]))
}
