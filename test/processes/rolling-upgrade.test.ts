import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { functionsVersion } from '../../src/db/apply-functions.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { startCountingUpstream } from '../support/counting-upstream.ts'
import { emptyDatabase, openDatabase } from '../support/database.ts'
import { repository } from '../support/former-release.ts'
import { freeKey, paidKey, secretKey } from '../support/gateway-yaml.ts'
import { addMigration } from '../support/later-migrations.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { temporary } from './several.ts'

/** Answers in each phase of the upgrade. */
const answersEach = amount('UPGRADE_ANSWERS', { test: 40, chaos: 600 })

const rounds = Array.from(
  { length: amount('UPGRADE_ROUNDS', { test: 1, chaos: 3 }) },
  (_, index) => index + 1,
)

test.each(rounds)(
  'a rolling upgrade to the next release under load with budgets refuses no request and loses no row (round %i)',
  async () => {
    const bed = await startBed()
    const start = (directory: string) => bed.start(directory)
    const next = nextRelease()
    const [first, second] = [await start(repository), await start(repository)]
    const load = startLoad()
    onTestFinished(async () => void (await load.stop()))
    load.aim([first, second])
    await load.more()

    // The next release migrates while this one serves alone, also after it.
    const third = await start(next)
    expect(await bed.noted('settle_money')).toBe(functionsVersion + 1)
    expect(await bed.database.sql`SELECT FROM next_release`).toEqual([])
    await load.more()
    // A process of this release ends and is started again, as by its service manager.
    load.aim([second, third])
    await load.moved()
    expect(await first.stop()).toBe(0)
    const again = await start(repository)
    expect(await bed.noted('settle_money')).toBe(functionsVersion + 1)
    load.aim([second, third, again])
    await load.more()

    // The others are replaced one by one. Calls that run go on while their process drains.
    load.aim([third, again])
    await load.moved()
    expect(await second.stop()).toBe(0)
    const fourth = await start(next)
    load.aim([third, fourth])
    await load.moved()
    expect(await again.stop()).toBe(0)
    await load.more()
    const { answered, refused } = await load.stop()
    expect(refused).toEqual([])
    expect(await Promise.all([third.stop(), fourth.stop()])).toEqual([0, 0])

    const rows = await bed.database.sql<{ marker: string; outcome: string; cost: string | null }[]>`
      SELECT substring(p.body FROM '"marker":"([^"]+)"') AS marker, r.outcome, r.cost_nano AS cost
      FROM requests r JOIN request_payloads p ON p.request_id = r.id AND p.created_at = r.created_at`
    const seen = (await bed.upstream.count()).ids
    expect(seen.toSorted()).toEqual(answered.toSorted())
    expect(rows.map(({ marker }) => marker).sort()).toEqual(answered.toSorted())
    expect(rows.filter(({ outcome, cost }) => outcome !== 'succeeded' || cost === null)).toEqual([])
    const { findings } = await verifyLedger(bed.database.sql)
    expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
    const [money] = await bed.database.sql`
      SELECT (SELECT sum(spent_nano) FROM budget_periods WHERE period = 'total')::text AS spent,
        (SELECT sum(reserved_nano) FROM accounts)::text AS reserved`
    // Each budget counted each call of its key: 11 input tokens at $1 a million, and 7 output tokens at $2.
    expect(money).toEqual({ spent: String(load.paid() * 25_000), reserved: '0' })
    console.log(`${answered.length} calls, ${load.paid()} with a budget: none refused, ${rows.length} rows`)
  },
  300_000,
)

/**
 * A directory with a made-up next release. Its migration adds a table, and a column to the table that journals are shipped to; and it
 * has other functions, which its processes and those of this release call.
 */
function nextRelease(): string {
  const directory = temporary()
  for (const part of ['src', 'workers', 'migrations', 'package.json', 'runtime.cjs', 'tollgate.cjs'])
    cpSync(join(repository, part), join(directory, part), { recursive: true })
  for (const part of ['node_modules', 'console', 'docs'])
    symlinkSync(join(repository, part), join(directory, part))
  addMigration(
    join(directory, 'migrations'),
    `CREATE TABLE next_release (); ALTER TABLE requests ADD COLUMN of_next text DEFAULT 'so';`,
  )
  const change = (path: string, from: string, to: string) => {
    const text = readFileSync(join(directory, path), 'utf8')
    expect(text).toContain(from)
    writeFileSync(join(directory, path), text.replace(from, to))
  }
  change('src/db/apply-functions.ts', `= ${functionsVersion}`, `= ${functionsVersion + 1}`)
  change('src/db/functions/settle_money.sql', 'CREATE OR', '-- Of the next release.\nCREATE OR')
  return directory
}

/** The settings of both releases. */
const yaml = (upstream: string) => `
models: [{ id: '*', context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }]
channels:
  - { name: counting, protocols: { openai-chat: ${upstream} }, api_keys: [k], models: '*', allow_private_address: true }
groups: [{ name: default, budget: { day: "400", month: "500" } }]
tenants:
  - { name: free, keys: [{ name: main, secret: ${freeKey} }] }
  - { name: paid, balance_usd: "1000", keys: [{ name: main, secret: ${paidKey}, budget: { day: "300", total: "300" } }] }
`

async function startBed() {
  const { url, drop } = await emptyDatabase()
  const upstream = await startCountingUpstream()
  const database = openDatabase(url, { max: 2 })
  const started: TollgateProcess[] = []
  const dataDir = temporary()
  onTestFinished(async () => {
    await Promise.all(started.map((tollgate) => tollgate.kill9()))
    await database.close()
    await upstream.stop()
    await drop()
  })
  return {
    upstream,
    database,
    /** The version of a function. */
    async noted(name: string): Promise<number> {
      const [row] =
        await database.sql`SELECT split_part(obj_description(${name}::regproc, 'pg_proc'), ' ', 2)::int AS version`
      return row?.version
    },
    /** Start a process of the release in this directory. They share the database and DATA_DIR. */
    async start(directory: string) {
      const tollgate = await startTollgate({
        directory,
        databaseUrl: url,
        dataDir,
        gatewayYaml: yaml(upstream.url),
        env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '50' },
      })
      started.push(tollgate)
      return tollgate
    },
  }
}

const clientCount = 12

/** Clients that call without pause, streamed and not, with a budget and without. Each call goes to one of `targets`. */
function startLoad() {
  let targets: readonly TollgateProcess[] = []
  let running = true
  const answered: string[] = []
  const refused: string[] = []
  /** Where each client has sent a request whose headers have not come. */
  const asking = new Map<number, TollgateProcess>()
  const client = async (name: number) => {
    for (let turn = 0; running; turn++) {
      const target = targets[(name + turn) % targets.length]
      if (target === undefined) await setImmediate()
      else await call(target, name, turn)
    }
  }
  const call = async (target: TollgateProcess, name: number, turn: number) => {
    const marker = `m-${name}-${turn}`
    const stream = turn % 2 === 0
    asking.set(name, target)
    try {
      const response = await fetch(`${target.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${isPaid(name) ? paidKey : freeKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          model: stream ? 'paced-10x10' : 'quick',
          stream,
          ...(stream && { stream_options: { include_usage: true } }),
          max_tokens: 10,
          messages: [{ role: 'user', content: 'x' }],
          metadata: { marker },
        }),
      })
      asking.delete(name)
      const text = await response.text()
      const isWhole = response.status === 200 && (!stream || text.includes('[DONE]'))
      if (isWhole) answered.push(marker)
      else refused.push(`${marker}: ${response.status} ${text.slice(0, 300)}`)
    } catch (error) {
      asking.delete(name)
      refused.push(`${marker}: ${String(error)} ${error instanceof Error ? String(error.cause) : ''}`)
    }
  }
  const clients = Array.from({ length: clientCount }, (_, name) => client(name))
  return {
    /** The processes to call from now on, in turn. */
    aim(tollgates: readonly TollgateProcess[]) {
      targets = tollgates
    },
    /** Waits until no process but the targets has a request that it has not begun to answer. */
    moved: () => until(() => [...asking.values()].every((tollgate) => targets.includes(tollgate))),
    async more() {
      const goal = answered.length + answersEach
      await until(() => answered.length >= goal || refused.length > 0, 120_000)
      expect(refused).toEqual([])
    },
    /** Calls with a budget. */
    paid: () => answered.filter((marker) => isPaid(Number(marker.split('-')[1]))).length,
    async stop() {
      running = false
      await Promise.all(clients)
      return { answered, refused }
    },
  }
}

const isPaid = (client: number) => client % 2 === 0
