import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { openContext } from '../../src/process/context.ts'
import { Opened } from '../../src/runtime/opened.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { startGateway } from '../support/gateway.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { until } from '../support/until.ts'

let home: string
let place: Awaited<ReturnType<typeof freshDatabase>>
let env: Record<string, string>
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-opening-'))
  place = await freshDatabase()
  env = { DATABASE_URL: place.url, DATA_DIR: home, SECRET_KEY: secretKey, METRICS_PORT: '1' }
})
afterEach(async () => {
  await place.drop()
  rmSync(home, { recursive: true, force: true })
})

/** Fails after it has opened so many parts. */
class Failing extends Opened {
  readonly open: string[] = []
  readonly #parts: number

  constructor(parts: number) {
    super(silentLog)
    this.#parts = parts
  }

  override add(part: string, ...closes: (() => unknown)[]): void {
    const place = this.open.push(part)
    super.add(part, ...closes, () => {
      // Each part is closed while all that it needs is open.
      expect(this.open.splice(place - 1)).toEqual([part])
    })
    if (place === this.#parts) throw new Error(`nothing after ${part}`)
  }
}

/** Sessions of processes, but not of the test. */
async function sessions(database: ReturnType<typeof openDatabase>): Promise<number> {
  const [found] = await database.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`
  return found?.count ?? 0
}

const resources = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => kind !== 'Timeout')
    .sort()

/** What a start opens, step by step. */
const steps = [
  'traces',
  'the database',
  'measures',
  'the ledger',
  'verifications',
  'the ledger watch',
  'the demo',
  'routing',
  'captured answers',
  'body threads',
  'upstream connections',
  'model lists',
  'the follower of keys and catalog',
  'stored responses',
  'limits',
  'image storage',
  'file storage',
  'queues',
  'the job watch',
  'the archive',
  'ledger reports',
  'sign-in attempts',
  'rollups',
  'partitions',
  'the span queue',
]

test('a start opens its parts in this order, and its end closes them in reverse', async () => {
  const whole = new Failing(Number.POSITIVE_INFINITY)
  const context = await openContext(readConfig(env), env, silentLog, undefined, whole)
  expect(whole.open).toEqual(steps)
  await context.close()
  expect(whole.open).toEqual([])
})

test.each(steps.map((step, index) => [step, index + 1] as const))(
  'a start that fails after %s leaves nothing open',
  async (step, parts) => {
    const database = openDatabase(place.url, { max: 1 })
    await sessions(database)
    const before = resources()
    const failing = new Failing(parts)
    const opening = openContext(readConfig(env), env, silentLog, undefined, failing)
    await expect(opening).rejects.toThrow(`nothing after ${step}`)
    expect(failing.open).toEqual([])
    await until(async () => (await sessions(database)) === 0)
    await until(() => resources().length <= before.length)
    await database.close()
  },
)

test('the rows are shipped before Postgres is closed, and who asks others first is closed first', async () => {
  const order: string[] = []
  class Noting extends Opened {
    override add(part: string, ...closes: (() => unknown)[]): void {
      super.add(part, () => void order.push(part), ...closes)
    }
  }
  const context = await openContext(readConfig(env), env, silentLog, undefined, new Noting(silentLog))
  await context.close()
  const inOrder = ['queues', 'limits', 'stored responses', 'the follower of keys and catalog']
  const thenClosed = ['upstream connections', 'captured answers', 'routing', 'the ledger', 'the database']
  expect(order.filter((part) => [...inOrder, ...thenClosed].includes(part))).toEqual([
    ...inOrder,
    ...thenClosed,
  ])
})

test('a process that cannot serve closes what it has opened', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? String(address.port) : ''
  const start = startGateway({
    databaseUrl: place.url,
    gatewayYaml: '{}',
    dataDir: home,
    env: { PORT: port },
  })
  await expect(start).rejects.toThrow(`Port ${port} is taken`)
  taken.close()
  const database = openDatabase(place.url, { max: 1 })
  await until(async () => (await sessions(database)) === 0)
  expect(await database.sql`SELECT state FROM instances`).toEqual([{ state: 'closed' }])
  await database.close()
})
