import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { keepEntryMonths } from '../../src/db/entry-months.ts'
import { monthAt, startMonthsAgo } from '../support/entry-months.ts'
import { idAt, startMoneyBed } from './money-bed.ts'

/** What `npm run ledger:verify` prints, on standard output and error together, and its exit code. */
async function verify(url: string, ...options: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, ['tollgate.cjs', 'ledger', 'verify', ...options], {
    env: { PATH: process.env.PATH, DATABASE_URL: url },
  })
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: Number(code), said: said + complaint }
}

test('ledger:verify checks all, or all since a month, where no month is closed and where some are', async () => {
  const bed = await startMoneyBed()
  onTestFinished(() => bed.close())
  await startMonthsAgo(bed.database.sql, 3)
  const payer = await bed.aKey(await bed.aTenant(100n), await bed.aGroup())
  const charge = (month: number, cost: bigint) =>
    bed.settle({ id: idAt(new Date(`${monthAt(month)}T00:00:00Z`)), payer, cost })
  await charge(-3, 1n)
  await charge(-1, 2n)
  await charge(0, 3n)
  const since = ['--since', monthAt(-1).slice(0, 7)]
  for (const pass of [async () => {}, () => keepEntryMonths(bed.database.sql, 0)]) {
    await pass()
    expect(await verify(bed.url)).toMatchObject({
      code: 0,
      said: expect.stringContaining('3 requests, 0 of'),
    })
    expect(await verify(bed.url, ...since)).toMatchObject({
      code: 0,
      said: expect.stringContaining('2 requests, 0 of'),
    })
  }
  await bed.database.sql`UPDATE accounts SET balance_nano = 95 WHERE id = ${payer.tenantId}`
  expect(await verify(bed.url, ...since)).toMatchObject({
    code: 1,
    said: expect.stringContaining(
      `BROKEN  every account's balance is the sum of its entries: 1 differ\n          ${payer.tenantId}: balance 95, entries 94\n`,
    ),
  })
})

test('ledger:verify refuses a value that is not a month', async () => {
  for (const month of ['2026', '2026-13', 'October', '2026-10-01']) {
    expect(await verify('postgres://nobody@127.0.0.1:9/none', '--since', month)).toEqual({
      code: 2,
      said: `tollgate ledger verify: --since must be a month such as 2026-10, not "${month}"\n`,
    })
  }
})
