import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  channelLine,
  credentialOf,
  overloaded,
  type RoutingBed,
  startRoutingBed,
} from '../support/routing-bed.ts'
import { patienceMs } from '../support/until.ts'
import type { Step } from '../support/upstream.ts'
import { chat, chatAnswer, errorAnswer, frame, hugeAnswer } from '../support/upstream-plans.ts'

/** What a failed call means for the choice of the next channel and for later requests. Each test has its own models. */

type Of = Parameters<typeof channelLine> extends [string, ...infer Rest] ? Rest : never

const answerBytesMax = 100_000
const totalMs = 1_500
const names = [
  ['told', 'told-too'],
  ['forbidden', 'forbidden-too'],
  ['gone'],
  ['methods'],
  ['huge'],
  ['slowly'],
  ['unsaid'],
  ['first-word'],
  ['probed'],
]
const models = [
  ...names.flat().map((id) => `  - { id: ${id} }`),
  '  - { id: away, fallbacks: [told] }',
  '  - { id: lost, fallbacks: [found] }',
  '  - { id: found }',
  "  - { id: '*' }",
].join('\n')

const channels = (origin: string) => {
  const channel = (...of: Of) => channelLine(origin, ...of)
  const first = ', priority: 1'
  return [
    channel('told', '[told, told-too, away]', { more: first }),
    channel('told-2', '[told, told-too]'),
    channelLine('http://127.0.0.1:9', 'lost', '[lost, found]', { more: first }),
    channel('found', '[found]'),
    channel('forbidden', '[forbidden, forbidden-too]', { keys: 2 }),
    channel('gone', '{ gone: renamed }', { more: first }),
    channel('gone-2', '[gone]'),
    channel('any', '"*"', { more: first }),
    channel('any-2', '"*"'),
    channel('methods', '[methods]', { more: first }),
    channel('methods-2', '[methods]'),
    channel('huge', '[huge]', { more: first }),
    channel('huge-2', '[huge]'),
    channel('slowly', '[slowly]', { more: first }),
    channel('slowly-2', '[slowly]'),
    channel('unsaid', '[unsaid]', { protocol: 'anthropic-messages' }),
    channel('first-word', '[first-word]', { more: first }),
    channel('first-word-2', '[first-word]'),
    channel('probed', '[probed]', { more: first }),
    channel('probed-2', '[probed]'),
  ].join('\n')
}

let bed: RoutingBed
beforeAll(async () => {
  const env = {
    WATCHED_ANSWER_BYTES_MAX: String(answerBytesMax),
    UPSTREAM_TOTAL_MS: String(totalMs),
    BREAKER_FAILURES: '2',
    BREAKER_OPEN_MS: '3000',
    BREAKER_OPEN_MS_MAX: '3000',
  }
  bed = await startRoutingBed({ models, channels, env })
})
afterAll(() => bed?.close())
beforeEach(() => bed.reset())

const servedBy = async (model: string, asking = {}) =>
  (await bed.ask(model, asking)).headers.get('x-tollgate-channel')
const explained = { 'x-tollgate-route': 'true' }
const inside = (error: object) => ({
  chunks: [`${frame({ error })}data: [DONE]\n\n`],
  ending: 'end' as const,
})

test('a channel that sends its error inside a 200 was reached, so it is also called for a fallback', async () => {
  bed.answers.told = (seen) =>
    seen.model === 'away' ? inside({ type: 'server_error', message: 'Not now.' }) : chat(seen)
  const { headers, id } = await bed.ask('away', { stream: true })
  expect(headers.get('x-tollgate-channel')).toBe('told')
  expect(headers.get('x-tollgate-model')).toBe('told')
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'told', status: 200, error_kind: 'upstream_error' },
    { channel: 'told', status: 200, reason: expect.stringMatching(/^fallback told/) },
  ])
})

test('a channel that does not answer at all is not called for a fallback, and the attempts say so', async () => {
  const { id, headers } = await bed.ask('lost')
  expect(headers.get('x-tollgate-channel')).toBe('found')
  expect(await bed.attemptsOf(id)).toMatchObject([
    { channel: 'lost', status: null },
    {
      channel: 'lost',
      passed_over: true,
      reason: 'fallback found, its channel did not respond earlier in this request',
    },
    { channel: 'found', status: 200 },
  ])
})

test('a credential that is forbidden one model is used for other models', async () => {
  bed.answers.forbidden = (seen, credential) =>
    seen.model === 'forbidden' && credential === 'forbidden-1'
      ? errorAnswer(403, { message: 'Not this model.' })
      : chat(seen)
  // With so few sessions that chance decides, all may prefer the same credential.
  const sessions = 40
  const names = () => bed.asked('forbidden').map(credentialOf)
  for (let i = 0; i < sessions; i++) {
    const headers = { 'x-tollgate-session': `s${i}` }
    expect((await bed.ask('forbidden', { headers })).status).toBe(200)
  }
  expect(names().filter((name) => name === 'forbidden-1')).toHaveLength(1)
  for (let i = 0; i < sessions; i++)
    await bed.ask('forbidden-too', { headers: { 'x-tollgate-session': `s${i}` } })
  expect(new Set(names().slice(-sessions))).toEqual(new Set(['forbidden-1', 'forbidden-2']))
})

test('if the upstream does not have a model, the next channel is called when the operator named it, and none when the client did', async () => {
  const unknown = () => errorAnswer(404, { code: 'model_not_found', message: 'No such model.' })
  bed.answers.gone = unknown
  for (let i = 0; i < 4; i++) expect(await servedBy('gone')).toBe('gone-2')
  // The channel counts as working, so each request still calls it first.
  expect(bed.asked('gone')).toHaveLength(4)
  bed.answers.any = unknown
  expect((await bed.ask('no-such-model')).status).toBe(404)
  expect(bed.asked('any-2')).toHaveLength(0)
})

test('after an upstream refuses this kind of request, the next channel is called, and the breaker does not count it', async () => {
  for (const status of [405, 410, 414, 431]) {
    bed.answers.methods = () => errorAnswer(status, { message: 'Not like this.' })
    expect(await servedBy('methods')).toBe('methods-2')
  }
  expect(bed.asked('methods')).toHaveLength(4)
})

test('a request whose answer is too large is sent once, and opens no breaker', async () => {
  // A translated answer must be held as a whole.
  const asking = { path: '/v1/messages', max_tokens: 10 }
  bed.answers.huge = () => hugeAnswer(answerBytesMax)
  for (let i = 0; i < 4; i++) {
    const { status, text } = await bed.ask('huge', asking)
    expect(status).toBe(502)
    expect(text).toContain(`larger than the limit of ${answerBytesMax} bytes`)
  }
  expect(bed.asked('huge')).toHaveLength(4)
  expect(bed.asked('huge-2')).toHaveLength(0)
})

test('a stream that runs until the time limit does not count against its channel', async () => {
  bed.answers.slowly = () => ({ chunks: dripping(), ending: 'stall' })
  const texts = await Promise.all([0, 1, 2].map(() => bed.ask('slowly', { stream: true })))
  for (const { text } of texts) expect(text).toContain(`longer than ${totalMs} ms`)
  bed.answers.slowly = chat
  expect(await servedBy('slowly')).toBe('slowly')
  // A stream that is silent until then is a failure.
  bed.answers.slowly = () => ({ chunks: [], ending: 'stall' })
  await Promise.all([0, 1].map(() => bed.ask('slowly')))
  bed.answers.slowly = chat
  expect(await servedBy('slowly')).toBe('slowly-2')
})

function* dripping(): Generator<Step> {
  for (;;) {
    yield frame({ id: '1', choices: [{ index: 0, delta: { content: 'x' } }] })
    yield { waitMs: 50 }
  }
}

test("if the channel's format cannot express a request, the error names the reason, and no channel, because none was called", async () => {
  const { status, headers, id, text } = await bed.ask('unsaid', { n: 2, headers: explained })
  expect(status).toBe(400)
  expect(headers.get('x-tollgate-channel')).toBeNull()
  const reason = 'n: the Messages format returns only one answer: send several requests'
  expect(headers.get('x-tollgate-route')).toBe(`"unsaid";passed_over="${reason}"`)
  // The client learns more: what would do.
  expect(JSON.parse(text).error.message).toMatch(
    /^n: the Messages format returns only one answer: send several requests\. Model "unsaid" is called in the format anthropic-messages \("unsaid"\), so the request is translated\. Models of this key that accept it without translation: "[^"]+"(, "[^"]+"){4}\./,
  )
  expect(await bed.row(id)).toMatchObject({ channel: null, attempt_count: 0, cost_nano: '0' })
})

test('the time of the first token is that of the answer which the client gets', async () => {
  // The content comes in one chunk with the error, so it reaches no client.
  bed.answers['first-word'] = () => ({
    chunks: [
      frame({ choices: [{ index: 0, delta: { content: 'x' } }] }) +
        frame({ error: { message: 'No.' } }) +
        'data: [DONE]\n\n',
    ],
    ending: 'end',
  })
  bed.answers['first-word-2'] = (seen) => ({ ...chat(seen), delayMs: 300 })
  const { id, headers } = await bed.ask('first-word', { stream: true })
  expect(headers.get('x-tollgate-channel')).toBe('first-word-2')
  const { first_token_ms: firstTokenMs } = await bed.row(id)
  expect(Number(firstTokenMs)).toBeGreaterThanOrEqual(290)
})

test('when the answer of a probe has begun, other requests may call the channel before it ends', async () => {
  bed.answers.probed = overloaded
  for (let i = 0; i < 2; i++) expect(await servedBy('probed')).toBe('probed-2')
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let calls = 0
  bed.answers.probed = (seen) =>
    ++calls > 1
      ? chat(seen)
      : {
          headers: { 'content-type': 'application/json' },
          chunks: [' ', { waitFor: held }, String(chatAnswer().body)],
          ending: 'end',
        }
  // The probe takes long, so the test does not wait for these requests here.
  const asked: Promise<unknown>[] = []
  await expect
    .poll(
      () => {
        asked.push(bed.ask('probed'))
        return calls
      },
      { timeout: patienceMs },
    )
    .toBe(1)
  await expect.poll(() => servedBy('probed'), { timeout: patienceMs, interval: 50 }).toBe('probed')
  release()
  await Promise.all(asked)
})
