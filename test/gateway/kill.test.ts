import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listJournals } from '../../src/journal/journal-directory.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { startCountingUpstream } from '../support/counting-upstream.ts'
import { openDatabase } from '../support/database.ts'
import { postmasterOf, startOwner, temporaryDirectory } from '../support/embedded.ts'
import { freeKey, gatewayYaml, paidKey, secretKey } from '../support/gateway-yaml.ts'
import { type Random, seeded } from '../support/random.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { anyMoment, patienceMs, until } from '../support/until.ts'

const gatewayKills = amount('GATEWAY_KILLS', { test: 1, chaos: 16 })
const postgresKills = amount('POSTGRES_KILLS', { test: 1, chaos: 4 })

/** An installation: the number of Tollgates, their data directories, and the processes of each. */
interface Installation {
  name: string
  /** Numbers from 0. Tollgates with the same number share the journal directory and the embedded Postgres. */
  directories: number[]
  processes: number
  /** `embedded`: Tollgate starts it in directory 0. Otherwise the test starts one of its own. */
  postgres: 'embedded' | 'own'
}

const all: Installation[] = [
  { name: 'one process', directories: [0], processes: 1, postgres: 'embedded' },
  { name: 'two processes on one DATA_DIR', directories: [0, 0], processes: 1, postgres: 'embedded' },
  { name: 'two processes on a DATA_DIR each', directories: [0, 1], processes: 1, postgres: 'own' },
  { name: 'PROCESSES=2', directories: [0], processes: 2, postgres: 'embedded' },
]
/** `npm test` leaves out the first, in which nothing happens that does not happen in the others. */
const installations = all.slice(-amount('INSTALLATIONS', { test: 3, chaos: 4 }))

test.for(installations)(
  `$name: after kill -9 ${gatewayKills} times and of Postgres ${postgresKills} times under load, every call that the upstream saw has exactly one row`,
  { timeout: 120_000 + (gatewayKills + postgresKills) * 30_000 },
  async ({ directories, processes, postgres }) => {
    const homes = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'tollgate-kill-')))
    const [postgresHome = ''] = postgres === 'own' ? [temporaryDirectory()] : homes
    const upstream = await startCountingUpstream()
    const running: TollgateProcess[] = []
    onTestFinished(async () => {
      for (const { child } of running) child.kill('SIGKILL')
      await upstream.stop()
      for (const home of homes) rmSync(home, { recursive: true, force: true })
    })
    const own = postgres === 'own' ? await startOwner(postgresHome) : undefined
    const yaml = gatewayYaml(upstream.url)
    const start = (directory: number) =>
      startTollgate({
        gatewayYaml: yaml,
        dataDir: homes[directory] ?? '',
        ...(own && { databaseUrl: own.url }),
        env: {
          SECRET_KEY: secretKey,
          PROCESSES: String(processes),
          SHIP_INTERVAL_MS: '20',
          JOURNAL_SEGMENT_BYTES: '65536',
        },
      })
    const random = seeded(1)
    const load = startLoad(random)

    running.push(...(await Promise.all(directories.map(start))))
    load.aim(running)
    const victims = random.shuffle([
      ...Array(gatewayKills).fill('gateway'),
      ...Array(postgresKills).fill('postgres'),
    ])
    for (const [turn, victim] of victims.entries()) {
      await load.more(20)
      await anyMoment(random, 400)
      if (victim === 'postgres') {
        // The successor of an earlier killed process may not run yet.
        await expect.poll(() => killed(postmasterOf(postgresHome)), { timeout: patienceMs }).toBe(true)
      } else if (processes > 1 && turn % 3 !== 0) {
        // The supervisor restarts it.
        const [member = 0] = random.shuffle(running[0]?.members() ?? [])
        killed(member)
      } else {
        const index = turn % running.length
        await running[index]?.kill9()
        // The others go on, and adopt its journal before it starts again.
        load.aim(running.filter((_, other) => other !== index))
        if (running.length > 1) await load.more(20)
        const again = await start(directories[index] ?? 0)
        running[index] = again
        load.aim(running)
      }
    }
    await load.more(20)
    await load.stop()
    expect(await Promise.all(running.map((tollgate) => tollgate.stop()))).toEqual(running.map(() => 0))

    // One more start and stop must ship the rest without help.
    const last = await Promise.all(directories.map(start))
    const database = openDatabase(own?.url ?? databaseUrlOf(postgresHome))
    try {
      // Count the journals that are not shipped whole: a process that died before Postgres knew it has left one too.
      const journals = () =>
        homes
          .flatMap((home) => listJournals(join(home, 'journal')))
          .filter(({ directory }) => !existsSync(join(directory, 'shipped'))).length
      await expect.poll(journals, { timeout: patienceMs }).toBe(directories.length * processes)
      const rows = await database.sql<{ id: string; body: string; outcome: string }[]>`
        SELECT r.id, p.body, r.outcome FROM requests r JOIN request_payloads p ON p.request_id = r.id AND p.created_at = r.created_at`
      const byMarker = new Map<string, string[]>()
      for (const { body, outcome } of rows) {
        const marker = /"marker":"([^"]+)"/.exec(body)?.[1] ?? 'none'
        byMarker.set(marker, [...(byMarker.get(marker) ?? []), outcome])
      }
      const { ids: seen } = await upstream.count()
      expect(seen.length).toBeGreaterThan(gatewayKills * 20)
      expect(seen.filter((marker) => byMarker.get(marker)?.length !== 1)).toEqual([])
      expect([...byMarker.values()].filter((outcomes) => outcomes.length !== 1)).toEqual([])
      // Every answer that a client read to its end has a successful row.
      expect(load.answered.filter((marker) => byMarker.get(marker)?.[0] !== 'succeeded')).toEqual([])
      const { findings } = await verifyLedger(database.sql)
      expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
      console.log(
        `${seen.length} calls seen upstream, ${rows.length} rows, ${rows.filter((row) => row.outcome === 'orphaned').length} orphaned`,
      )
    } finally {
      await database.close()
      await Promise.all(last.map((tollgate) => tollgate.stop()))
      await own?.stop()
    }
  },
)

/** Clients that call without pause, streamed and not, with limited money and without, and accept any failure. */
function startLoad(random: Random) {
  let urls: string[] = []
  let running = true
  let calls = 0
  const answered: string[] = []
  const client = async (name: number) => {
    for (let turn = 0; running; turn++) {
      const marker = `m-${name}-${turn}`
      const stream = turn % 2 === 0
      try {
        const response = await fetch(`${urls[(name + turn) % urls.length]}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${name % 4 === 0 ? paidKey : freeKey}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({
            model: stream ? 'paced-5x2' : 'priced',
            stream,
            max_tokens: 10,
            messages: [{ role: 'user', content: 'x' }],
            metadata: { marker },
          }),
        })
        const text = await response.text()
        if (response.status === 200 && (!stream || text.includes('[DONE]'))) answered.push(marker)
      } catch {
        // The port is closed. Let other work run before the next call.
        await anyMoment(random, 20)
      }
      calls += 1
    }
  }
  const clients = Array.from({ length: 12 }, (_, name) => client(name))
  return {
    answered,
    /** The Tollgates to call in turn. An empty list changes nothing. */
    aim(running: readonly TollgateProcess[]) {
      if (running.length > 0) urls = running.map(({ url }) => url)
    },
    async more(count: number) {
      const goal = answered.length + count
      await until(() => answered.length >= goal).catch((error) => {
        throw new Error(`no ${count} answers (${calls} calls)`, { cause: error })
      })
    },
    async stop() {
      running = false
      await Promise.all(clients)
    },
  }
}

/** False when there is no such process. */
function killed(pid: number): boolean {
  try {
    // The pid may be missing while the file is being written. A pid of 0 would mean this process and its group.
    return pid > 0 && process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

function databaseUrlOf(dataDir: string): string {
  const { port, password } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8'))
  return `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`
}
