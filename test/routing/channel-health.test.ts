import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { manualClock } from '../support/manual-clock.ts'
import { adminToken } from '../support/operator-client.ts'
import { channelLine, hello, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import { until } from '../support/until.ts'
import { chat, errorAnswer, slowHeaders } from '../support/upstream-plans.ts'

/** What the health says of channels that requests have found to be ill. */

const clock = manualClock()
let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: ['hung', 'dead', 'shared', 'mended'].map((id) => `  - { id: ${id} }`).join('\n'),
    channels: (origin) =>
      [
        channelLine(origin, 'hung', '[hung]'),
        channelLine(origin, 'dead', '[dead, shared]', { more: ', priority: 1' }),
        channelLine(origin, 'alive', '[shared]'),
        channelLine(origin, 'mended', '[mended]'),
      ].join('\n'),
    env: { ADMIN_TOKEN: adminToken, BREAKER_FAILURES: '3' },
    clock,
  })
})
afterAll(() => bed?.close())

async function health() {
  const answer = await fetch(`${bed.tollgate.url}/admin/v1/health`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  return (await answer.json()) as {
    problems: { where: string; what: string; cause: string; since: string }[]
    channels: { name: string; recent: Record<string, unknown>; [member: string]: unknown }[]
  }
}
const problemOf = async (name: string) =>
  (await health()).problems.find(({ where }) => where === `channel ${name}`)
const channelOf = async (name: string) => (await health()).channels.find((one) => one.name === name)

test('an upstream that hangs is a problem, even though its clients give up', async () => {
  bed.answers.hung = (seen) => slowHeaders(seen, 600_000)
  const waits = () => {
    const leaving = new AbortController()
    const asked = fetch(`${bed.tollgate.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
      body: JSON.stringify({ model: 'hung', messages: hello }),
      signal: leaving.signal,
    }).catch(() => {})
    return { leaves: () => leaving.abort(), asked }
  }
  const first = waits()
  await until(() => bed.asked('hung').length === 1)
  clock.pass(25_000)
  first.leaves()
  await until(async () => (await channelOf('hung'))?.recent.unanswered === 1)
  const others = [waits(), waits()]
  await until(() => bed.asked('hung').length === 3)
  clock.pass(20_000)
  await until(async () => (await problemOf('hung')) !== undefined)
  expect(await problemOf('hung')).toMatchObject({
    severity: 'warning',
    what: '2 requests wait for its answer, the oldest for 20 s. None was answered.',
    cause: '2 requests wait for its answer, the oldest for 20 s',
    since: expect.any(String),
  })
  expect(await channelOf('hung')).toMatchObject({
    silent: { waiting: 2, reported_in: 1, processes: 1 },
    recent: { failed: 0, unanswered: 1 },
  })
  for (const { leaves } of others) leaves()
  bed.answers.hung = chat
  await bed.ask('hung')
  await until(async () => (await problemOf('hung')) === undefined)
})

test('a channel with a dead key is a problem, also while another channel answers and the key rests', async () => {
  bed.answers.dead = () => errorAnswer(401, { message: 'Incorrect API key provided.' })
  await bed.ask('shared')
  await until(async () => typeof (await problemOf('dead'))?.since === 'string')
  const found = await problemOf('dead')
  expect(found).toMatchObject({ severity: 'bad', cause: 'the vendor refuses its only credential' })
  expect(found?.what).toBe('The vendor refuses its only credential: upstream_error, status 401')
  expect(await channelOf('dead')).toMatchObject({ only_channel_for: { count: 1, models: ['dead'] } })
  expect(await channelOf('alive')).toMatchObject({ only_channel_for: { count: 1, models: ['shared'] } })
  clock.pass(60_000)
  await bed.ask('shared')
  await until(() => bed.asked('dead').length === 2)
  expect(await problemOf('dead')).toEqual(found)
  bed.answers.dead = chat
  clock.pass(60_000)
  await bed.ask('shared')
  await until(async () => (await problemOf('dead')) === undefined)
  expect(await channelOf('alive')).toMatchObject({ only_channel_for: { count: 0, models: [] } })
})

test('a channel that failed and answers again is no problem any more, and since when is known', async () => {
  bed.answers.mended = () => errorAnswer(500, { message: 'Sorry.' })
  for (let i = 0; i < 10; i++) await bed.ask('mended')
  bed.answers.mended = chat
  clock.pass(60_000)
  for (let i = 0; i < 9; i++) await bed.ask('mended')
  await until(async () => (await channelOf('mended'))?.recent.calls === 19)
  await until(async () => (await problemOf('mended'))?.cause === '10 of the last 19 calls failed')
  const { id } = await bed.ask('mended')
  await bed.attemptsOf(id)
  expect(await problemOf('mended')).toBeUndefined()
  expect((await channelOf('mended'))?.recent).toMatchObject({
    ...{ calls: 20, failed: 10, unanswered: 0 },
    answers_again_since: expect.any(String),
  })
})
