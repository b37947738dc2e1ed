import { describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { testClock } from '../support/clock.ts'
import { patienceMs, until } from '../support/until.ts'
import { chatStream } from '../support/upstream-plans.ts'
import {
  chatBody,
  chatPath,
  expectRows,
  freeKey,
  paidKey,
  planByPath,
  served,
  startDegradationBed,
} from './bed.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

describe.each([
  ['an hour ahead', hourMs],
  ['an hour back', -hourMs],
  ['two days ahead', 48 * hourMs],
])('when the clock of a process jumps %s', (_, jumpMs) => {
  test('running and new requests are served and recorded once, no duration is negative, and the process stays known as alive', async () => {
    const clock = testClock()
    const bed = await startDegradationBed({
      env: { ...clock.env, IMAGE_RETENTION_HOURS: '1000', IMAGE_WAIT_MS: '30000' },
    })
    bed.upstream.script((request) =>
      request.stream ? chatStream(request, { tokens: 30, paceMs: 50 }) : planByPath(request),
    )
    const ask = (key = freeKey) => served(() => bed.call(chatPath, { body: chatBody, key }))
    const draw = (prompt: string) =>
      served(() => bed.call('/v1/images/generations', { body: { model: 'draw', prompt } }))
    for (const key of [freeKey, paidKey]) expect((await ask(key)).status).toBe(200)
    expect((await draw('before')).status).toBe(200)
    const streamed = bed.call(chatPath, { body: { ...chatBody, stream: true } })
    const drawn = draw('across delay:700')
    await bed.upstream.arrived(3)
    await expect.poll(() => bed.painter.running()).toBe(1)
    const jumpedAt = new Date()
    clock.jump(jumpMs)

    await expect
      .poll(async () => {
        const { requestId } = await ask()
        const moment = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16)
        return Math.abs(moment - Date.now() - jumpMs) < minuteMs
      })
      .toBe(true)
    const across = await streamed
    expect(across.text).toContain('[DONE]')
    expect((await drawn).status).toBe(200)
    const after = [await ask(), await ask(paidKey), await draw('after')]
    expect(after.map(({ status }) => status)).toEqual([200, 200, 200])
    await expectRows(bed.database, [across.requestId, ...after.map(({ requestId }) => requestId)])
    const listed = (await bed.call('/v1/usage/requests')).json as { data: { id: string }[] }
    expect(listed.data.map(({ id }) => id)).toContain(after[0]?.requestId)
    const negative = await bed.database.sql`
      SELECT id FROM requests WHERE least(total_ms, queue_ms, first_token_ms) < 0
      UNION ALL SELECT request_id FROM attempts WHERE least(total_ms, first_byte_ms) < 0`
    expect([...negative]).toEqual([])

    // The process still follows changes of keys and catalog, even over a network that forgets connections.
    bed.wire.forget()
    await bed.database.sql`UPDATE keys SET disabled_at = now() WHERE name = 'free'`
    await until(async () => (await ask()).status === 401, 6_000)
    // If it were silent, other processes would adopt its journal.
    await expect
      .poll(
        async () =>
          (
            await bed.database
              .sql`SELECT heartbeat_at > ${jumpedAt}::timestamptz + interval '1 s' AS heard FROM instances`
          )[0],
        { timeout: patienceMs },
      )
      .toEqual({ heard: true })
    expect(await bed.tollgate.stop()).toBe(0)
    const { findings } = await verifyLedger(bed.database.sql)
    expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  })
})

test('a key expires by the clock of the process that checks it, and is valid again when the clock goes back', async () => {
  const clock = testClock()
  const bed = await startDegradationBed({ env: clock.env })
  await bed.database.sql`UPDATE keys SET expires_at = now() + interval '30 minutes' WHERE name = 'free'`
  const ask = async () => (await bed.call(chatPath, { body: chatBody })).status
  await until(async () => (await ask()) === 200)
  clock.jump(hourMs)
  await expect.poll(ask).toBe(401)
  clock.jump(0)
  await expect.poll(ask).toBe(200)
})
