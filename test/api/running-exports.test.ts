import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningExports } from '../../src/usage/log/running-exports.ts'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Exports of the usage log that run at a time. */

const adminToken = 'an-admin-token-for-tests'
let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, EXPORTS_MAX: '2', LOG_QUERY_MS: '60000' } })
})
afterAll(() => bed.close())

const download = async (path: string, secret: string) => {
  const headers = { authorization: `Bearer ${secret}` }
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`, { headers })
  return {
    status: response.status,
    wait: response.headers.get('retry-after'),
    type: response.headers.get('content-type'),
    reason: response.headers.get('x-tollgate-reason'),
    text: await response.text(),
  }
}
const ofAdmin = () => download('/admin/v1/requests/export', adminToken)
const ofKey = (secret: string) => download('/v1/usage/export', secret)

test('of two exports of one owner only one runs, while the log does not answer', async () => {
  for (const ask of [ofAdmin, () => ofKey(freeKey)]) {
    const other = postgres(bed.tollgate.context.databaseUrl, { max: 1 })
    const both = Promise.withResolvers<[ReturnType<typeof ask>, ReturnType<typeof ask>]>()
    await other.begin(async (sql) => {
      await sql`lock table requests in access exclusive mode`
      const asked: [ReturnType<typeof ask>, ReturnType<typeof ask>] = [ask(), ask()]
      both.resolve(asked)
      const first = await Promise.race(asked)
      expect(first, first.text).toMatchObject({ status: 429, wait: '5' })
      expect(first.reason).toBe('own_exports_full')
    })
    await other.end()
    const answers = await Promise.all(await both.promise)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429])
  }
})

test('beyond the bound of the process, all get a clear refusal, until one ends', async () => {
  const ends = [bed.tollgate.context.exports.begin('one'), bed.tollgate.context.exports.begin('other')]
  const refused = await ofAdmin()
  expect(refused).toMatchObject({ status: 429, wait: '5', type: 'application/problem+json' })
  expect(refused.reason).toBe('exports_full')
  expect(await ofKey(paidKey)).toMatchObject({ status: 429, wait: '5' })
  ends[0]?.()
  expect(await ofAdmin()).toMatchObject({ status: 200 })
  ends[1]?.()
  // Each one that ended, well or not, has given its place back.
  for (let time = 0; time < 3; time++) {
    expect((await download('/admin/v1/requests/export?status=teapot', adminToken)).status).toBe(400)
    expect((await ofAdmin()).status).toBe(200)
    expect((await ofKey(freeKey)).status).toBe(200)
  }
})

test('one owner has half of the places', () => {
  const exports = new RunningExports({ exportsMax: 3 })
  exports.begin('one')
  const end = exports.begin('one')
  expect(() => exports.begin('one')).toThrow(expect.objectContaining({ reason: 'own_exports_full' }))
  exports.begin('other')
  end()
  exports.begin('one')
  expect(() => exports.begin('third')).toThrow('3 exports')
})
