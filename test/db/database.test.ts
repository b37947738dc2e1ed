import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded.ts'
import { accounts, tenants } from '../../src/db/schema.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { postmasterOf, temporaryDirectory } from '../support/embedded.ts'
import { until } from '../support/until.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

const id = '0199f000-0000-7000-8000-000000000001'

test('raw statements and typed queries read the same rows, and each reads money and time in its own way', async () => {
  const { sql, db, close } = openDatabase(fresh.url)
  onTestFinished(close)
  const money = 9_007_199_254_740_993n
  await db.insert(tenants).values({ id, name: 'acme', managedBy: 'admin' })
  await db.insert(accounts).values({ id, limited: true, balance: money })
  expect((await db.select().from(accounts))[0]?.balance).toBe(money)

  const [account] = await sql<{ balance_nano: string }[]>`
    select balance_nano from accounts where balance_nano = ${money.toString()}::bigint`
  expect(BigInt(account?.balance_nano ?? 0)).toBe(money)
  const [tenant] =
    await sql`select created_at, array['a', 'b'] as list from tenants where created_at <= ${new Date()}`
  expect(tenant?.created_at).toBeInstanceOf(Date)
  expect(tenant?.list).toEqual(['a', 'b'])
  expect((await db.select().from(tenants))[0]?.createdAt).toBeInstanceOf(Date)
})

test('statements and subscriptions work again after Postgres was down', async () => {
  const dataDir = temporaryDirectory()
  const embedded = await startEmbedded({ dataDir, log: silentLog, settings: { shared_buffers: '16MB' } })
  onTestFinished(() => embedded.stop())
  const database = openDatabase(embedded.url)
  onTestFinished(() => database.close())
  const heard: string[] = []
  let subscriptions = 0
  database.listen('changes', {
    onNotify: (payload) => heard.push(payload),
    onListening: () => {
      subscriptions += 1
    },
  })
  await until(() => subscriptions === 1)
  const prepared = () => database.sql`select ${1}::int as n`
  expect(await prepared()).toMatchObject([{ n: 1 }])
  await database.sql`select pg_notify('changes', 'before')`
  await until(() => heard.length === 1)

  process.kill(postmasterOf(dataDir), 'SIGKILL')
  await until(() => subscriptions === 2)
  expect(await prepared()).toMatchObject([{ n: 1 }])
  await database.sql`select pg_notify('changes', 'after')`
  await until(() => heard.length === 2)
  expect(heard).toEqual(['before', 'after'])
})

test('a statement is rejected soon when nothing listens on the port', async () => {
  const { sql, close } = openDatabase('postgres://nobody:secret@127.0.0.1:9/none')
  onTestFinished(close)
  await expect(sql`select 1`).rejects.toThrow('ECONNREFUSED')
  await expect(sql`select 1`).rejects.toThrow('ECONNREFUSED')
})
