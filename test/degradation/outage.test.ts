import { expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { patienceMs } from '../support/until.ts'
import {
  type Answer,
  chatBody,
  chatPath,
  expectRows,
  messages,
  planByPath,
  startDegradationBed,
} from './bed.ts'

const outageMs = amount('OUTAGE_MS', { test: 2_000, chaos: 60_000 })
const MiB = 1024 * 1024

test('while Postgres is down the journal grows only to its bound, reports it, and loses no row', {
  timeout: outageMs + 120_000,
}, async () => {
  const bed = await startDegradationBed({
    env: {
      JOURNAL_SEGMENT_BYTES: String(64 * 1024),
      JOURNAL_ALARM_BYTES: String(256 * 1024),
      JOURNAL_BYTES_MAX: String(MiB),
    },
  })
  const held = Promise.withResolvers<void>()
  bed.upstream.script((request) =>
    request.stream ? { chunks: [{ waitFor: held.promise }, ...frames], ending: 'end' } : planByPath(request),
  )
  expect((await bed.call(chatPath, { body: chatBody })).status).toBe(200)
  const running = bed.call(chatPath, { body: { ...chatBody, stream: true }, withinMs: outageMs + 60_000 })
  await bed.upstream.arrived(2)

  bed.wire.freeze()
  // A row is about as large as the kept part of its body.
  const body = {
    ...chatBody,
    messages: [...messages, ...messages.map((one) => ({ ...one, content: filler }))],
  }
  const answers: Answer[] = []
  const size = async () => ((await bed.call('/readyz')).json as { journal_bytes: number }).journal_bytes
  const until = performance.now() + outageMs
  const ask = async () => {
    while (performance.now() < until || (await size()) < 2 * MiB) {
      answers.push(await bed.call(chatPath, { body }))
    }
  }
  await Promise.all(Array.from({ length: 4 }, ask))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(answers.length - refused.length).toBeGreaterThan(20)
  expect(refused.length).toBeGreaterThan(100)
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 503, retryAfter: '5' })
    expect(answer.json).toMatchObject({
      error: { message: expect.stringContaining('storage for them is full') },
    })
  }
  expect(bed.upstream.requests.length).toBe(2 + answers.length - refused.length)
  expect(await size()).toBeLessThan(2.2 * MiB)
  expect(bed.tollgate.stderr().split('the journal is growing').length).toBe(2)
  held.resolve()
  const ended = await running
  expect(ended.text).toContain('[DONE]')

  await bed.wire.mend()
  await expect.poll(size, { timeout: patienceMs }).toBeLessThan(256 * 1024)
  const served = answers.filter(({ status }) => status === 200).map(({ requestId }) => requestId)
  await expectRows(bed.database, [...served, ended.requestId])
  expect((await bed.call(chatPath, { body })).status).toBe(200)
  // One row counts all requests that were refused at twice the bound.
  await expect
    .poll(async () => {
      const [row] = await bed.database.sql`SELECT sum(folded)::int AS calls FROM requests WHERE status = 503`
      return row?.calls
    })
    .toBe(refused.length)
  expect(await bed.tollgate.stop()).toBe(0)
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})

const filler = Array.from({ length: 2_000 }, (_, n) => `word${n}`).join(' ')
const frames = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
]
