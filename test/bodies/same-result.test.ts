import { afterAll, expect, test } from 'vitest'
import { BodyThreads } from '../../src/bodies/body-threads.ts'
import { withoutForeignReasoning } from '../../src/bodies/foreign-reasoning.ts'
import { namesIn } from '../../src/bodies/names.ts'
import { factsFrom, fingerprintOf, imageFactsFrom } from '../../src/bodies/read-body.ts'
import { ownBody } from '../../src/bodies/thread-jobs.ts'
import { translateRequest } from '../../src/bodies/translate-request.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { hiddenInputIn } from '../../src/protocols/hidden-input.ts'
import { clientSide, imageClient, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext, ProtocolName } from '../../src/protocols/protocol.ts'
import { toolsOf } from '../../src/protocols/tool-names.ts'
import { type CaptureMode, redactBody } from '../../src/redaction/redact.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { chatFields } from '../protocols/every-chat-field.ts'
import { messagesFields } from '../protocols/every-messages-field.ts'
import { responsesFields } from '../protocols/every-responses-field.ts'
import { randomAnswer } from '../protocols/random-answer.ts'
import { Random, seeded } from '../support/random.ts'

/** Threads find in a body exactly what the event loop finds: every documented member of every format. */

const envelopeKey = Buffer.alloc(32, 7)
const envelope = makeEnvelope(envelopeKey)
const bounds = { jsonDepthMax: 128, jsonValuesMax: 250_000 }
const redaction = { key: Buffer.alloc(32, 9), bytesMax: 300, stringBytesMax: 100 }
const token = 'tg-a-key-of-the-client-000001'
const threads = new BodyThreads({
  threads: 2,
  waitingMax: 10_000,
  heapBytesMax: 256 * 1024 * 1024,
  data: { envelopeKeys: [envelopeKey], bounds, redaction },
  log: silentLog,
})
afterAll(() => threads.close())

const fields = {
  'openai-chat': chatFields,
  'openai-responses': responsesFields,
  'anthropic-messages': messagesFields,
} as const
const clients = Object.keys(fields) as (keyof typeof fields)[]
const targets = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const

/** Each member of a format once, some bodies that are refused, and a long one with a secret in it. */
function bodiesOf(client: keyof typeof fields): Json[] {
  const [base = { name: '', without: {}, with: {} }] = fields[client]
  const long = `${'A long text, "quoted". '.repeat(3000)} ${token}`
  const turns =
    client === 'openai-responses' ? { input: long } : { messages: [{ role: 'user', content: long }] }
  return [
    ...fields[client].map((field) => field.with),
    base.without,
    {},
    { model: 'm' },
    { ...base.without, model: '' },
    {
      ...base.without,
      ...turns,
      stream: true,
      user: 'someone',
      metadata: { user_id: 'someone else', team: 'blue' },
    },
  ]
}

function shared(bytes: Buffer): Buffer {
  const memory = Buffer.from(new SharedArrayBuffer(bytes.length))
  bytes.copy(memory)
  return memory
}

/** The result, or the error as a client sees it. */
async function settled<T>(work: () => T | Promise<T>): Promise<unknown> {
  try {
    return { result: await work() }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { name, message, ...rest } = error
    return { ...rest, message, cause: undefined, name: name === 'GatewayError' ? name : 'Error' }
  }
}

for (const client of clients) {
  test(`${client}: the facts, the names, the kept part and the patched bytes`, async () => {
    const { readRequest, plainInput } = clientSide(client)
    const native = upstreamSide(client).native
    if (native === undefined) throw new Error('no pass-through')
    const captures: CaptureMode[] = ['none', 'shape', 'content']
    for (const [index, json] of bodiesOf(client).entries()) {
      const bytes = Buffer.from(JSON.stringify(json, null, index % 3))
      const capture = captures[index % 3] ?? 'none'
      const read = await threads.run('key', {
        name: 'read',
        input: {
          bytes: shared(bytes),
          format: { kind: 'text', protocol: client },
          capture,
          token,
          fingerprintPath: '/p',
          isMoneyLimited: index % 2 === 0,
        },
      }).done
      expect(await settled(() => factsFrom(read))).toEqual(await settled(() => readRequest(bytes, bounds)))
      const isRead = index % 2 === 0 && 'read' in read.facts
      expect(read.hiddenInput).toEqual(isRead ? hiddenInputIn(bytes, plainInput) : [])
      const kept = redactBody(bytes, capture, { ...redaction, exact: [token] })
      expect(read.captured === null ? null : Buffer.from(read.captured).toString()).toEqual(
        kept?.toString() ?? null,
      )
      expect(Buffer.from(read.fingerprint ?? []).toString('hex')).toBe(
        fingerprintOf('/p', bytes).toString('hex'),
      )
      if ('refused' in read.facts) continue
      const facts = readRequest(bytes, bounds)
      expect(read.names).toEqual(namesIn(bytes, facts))
      const pieces = native.patchedPieces(bytes, factsFrom(read), { model: 'up' })
      expect(Buffer.concat(pieces).toString()).toBe(
        native.patchRequest(bytes, facts, { model: 'up' }).toString(),
      )
    }
  })

  test(`${client}: the translations into every format, and the answers to them`, async () => {
    const random = seeded(3)
    for (const json of bodiesOf(client)) {
      for (const protocol of targets) {
        const target = { protocol, upstreamModel: 'up', traits: {} }
        const options = { strict: random.next() < 0.2, maxOutputTokensDefault: 77 }
        const bytes = shared(Buffer.from(JSON.stringify(json)))
        const here = await settled(() => {
          const { body, notes, tools, asked } = translateRequest(
            { client: clientSide(client), body: json, envelope, ...options },
            target,
          )
          return {
            body: JSON.stringify(body),
            notes,
            tools: [...tools.given],
            asked: answerTo(client, asked),
          }
        })
        const there = await settled(async () => {
          // Some translations do not fit.
          const into = new Uint8Array(new SharedArrayBuffer(random.next() < 0.5 ? 100 : 65_536))
          const input = { bytes, into, client, target, ...options }
          const translated = await threads.run('key', { name: 'translate', input }).done
          const fits = translated.bytes.length <= into.length
          expect(Buffer.from(into).includes(Buffer.from(translated.bytes))).toBe(fits)
          const { notes, tools, asked } = translated
          expect([...tools.keys()].map(toolsOf(tools).clientTool)).toEqual([...tools.values()])
          return {
            body: Buffer.from(translated.bytes).toString(),
            notes,
            tools: [...tools],
            asked: answerTo(client, asked),
          }
        })
        expect(there).toEqual(here)
      }
    }
  })

  test(`${client}: an answer needs nothing of its request but the settings`, () => {
    for (const json of bodiesOf(client)) {
      const side = clientSide(client)
      const asked = { body: side.answerSettings(json) }
      expect(answerTo(client, asked)).toEqual(answerTo(client, { ...asked, body: json }))
    }
  })
}

/** The same answer in the client's format, streamed and whole. */
function answerTo(client: ProtocolName, asked: Pick<AnswerContext, 'body'>): string[] {
  const side = clientSide(client)
  const context: AnswerContext = {
    ...asked,
    requestId: '0198a1b2-0000-7000-8000-000000000001',
    model: 'm',
    createdAtSeconds: 1_767_225_600,
    inputTokensEstimate: 5,
    envelope,
  }
  const events = randomAnswer(new Random(11))
  const writer = side.encodeStream(context)
  return [...events.map((event) => writer.push(event)), JSON.stringify(side.encodeResponse(events, context))]
}

test('a body without the reasoning of other channels', async () => {
  const sealed = envelope.wrap({ protocol: 'gemini', model: 'g', kind: 'signature', value: 'thought' })
  const json = {
    model: 'm',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'Hello' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'x', signature: sealed },
          { type: 'text', text: 'Hi' },
        ],
      },
      { role: 'user', content: 'And?' },
    ],
  }
  const format = { kind: 'text', protocol: 'anthropic-messages' } as const
  const askOwn = (body: Json) =>
    threads.run('key', { name: 'own', input: { bytes: shared(Buffer.from(JSON.stringify(body))), format } })
      .done
  const own = await askOwn(json)
  if (own === undefined) throw new Error('nothing was left out')
  const here = withoutForeignReasoning(json, { openSummary: () => undefined })
  const { body, facts } = ownBody(own)
  expect(body.toString()).toBe(JSON.stringify(here.json))
  expect(own.notes).toEqual(here.notes)
  expect(facts).toEqual(clientSide('anthropic-messages').readRequest(body, bounds))
  expect(await askOwn(here.json)).toBeUndefined()
})

test('image requests and plain ones', async () => {
  const read = async (format: Parameters<typeof threads.run<'read'>>[1]['input']['format'], json: Json) =>
    threads.run('key', {
      name: 'read',
      input: {
        bytes: shared(Buffer.from(JSON.stringify(json))),
        format,
        capture: 'none',
        token: undefined,
        fingerprintPath: undefined,
        isMoneyLimited: true,
      },
    }).done
  const image = { model: 'm', prompt: 'A boat', size: '1024x1024' }
  expect(imageFactsFrom(await read({ kind: 'image' }, image))).toEqual(
    imageClient.readRequest(Buffer.from(JSON.stringify(image)), bounds),
  )
  const embedded = await read({ kind: 'plain', plain: { input: 'input' } }, { model: 'm', input: ['a', 'b'] })
  expect(factsFrom(embedded)).toMatchObject({ model: 'm', stream: false, maxOutputTokens: 0 })
  expect(() => imageFactsFrom(embedded)).toThrow('a text request')
})
