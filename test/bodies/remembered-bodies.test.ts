import { describe, expect, test, vi } from 'vitest'
import { contains, RememberedBodies } from '../../src/bodies/remembered-bodies.ts'
import { type TranslationTarget, translateRequest } from '../../src/bodies/translate-request.ts'
import { writeJson } from '../../src/bodies/write-json.ts'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import { parseKeepingDigits } from '../../src/canonical/json-digits.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide } from '../../src/protocols/index.ts'
import type { JsonBounds, Outline } from '../../src/protocols/json-scan.ts'
import { chatFields } from '../protocols/every-chat-field.ts'
import { messagesFields } from '../protocols/every-messages-field.ts'
import { responsesFields } from '../protocols/every-responses-field.ts'
import { amount } from '../support/amount.ts'
import { type Random, seeded } from '../support/random.ts'

/** A body that begins like an earlier one gives exactly what it gives when it is read from its beginning. */

const envelope = makeEnvelope(Buffer.alloc(32, 7))
const fields = {
  'openai-chat': chatFields,
  'openai-responses': responsesFields,
  'anthropic-messages': messagesFields,
} as const
const clients = Object.keys(fields) as (keyof typeof fields)[]
const targets = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const
const models: Omit<TranslationTarget, 'protocol'>[] = [
  { upstreamModel: 'up', traits: {} },
  { upstreamModel: 'up', traits: { caching: 'marks' } },
  { upstreamModel: 'gpt-5', traits: { callIds: 'nine' } },
]
const signs = ['"file-tg', '"tools"', 'web_search', '\\u004', 'moved']

for (const client of clients) {
  describe(client, () => {
    test(`resumed equals from scratch: facts, searches, parsed and translated bytes, refusals`, () => {
      const random = seeded(clients.indexOf(client))
      const bodies = new RememberedBodies(8 * 1024 * 1024)
      const steps = amount('RESUMED_BODIES', { test: 700, chaos: 35_000 })
      let session = newSession(random, client)
      let translated = 0
      for (let step = 0; step < steps; step++) {
        if (random.upTo(30) === 0) session = newSession(random, client)
        const target = random.pick(targets)
        const model = random.pick(models)
        const wanted = { client, target: { protocol: target, ...model }, bounds: session.bounds }
        const body = session.next()
        // What is remembered is found by the buffer.
        const scratch = outcomeOf(wanted, Buffer.from(body))
        expect(outcomeOf(wanted, body, bodies)).toEqual(scratch)
        if (isRecord(scratch.translated) && 'result' in scratch.translated) translated++
      }
      // Otherwise this test would show nothing.
      expect(bodies.counts.resumed).toBeGreaterThan(bodies.counts.bodies / 2)
      expect(translated).toBeGreaterThan(steps / 4)
    }, 1_800_000)
  })
}

interface Wanted {
  client: keyof typeof fields
  target: TranslationTarget
  bounds: JsonBounds
}

/** All that the gateway makes of a body: with `bodies`, from where it differs from an earlier one. */
function outcomeOf({ client, target, bounds }: Wanted, body: Buffer, bodies?: RememberedBodies): Json {
  const side = clientSide(client)
  const recalled = bodies?.recall({ keyId: 'key' }, client, body, side.turnsMember)
  const read = settled(() =>
    side.readRequest(body, recalled === undefined ? bounds : { ...bounds, outline: recalled.outline }),
  )
  if (!('result' in read)) return read
  const facts = read.result
  if (recalled !== undefined) bodies?.keep(recalled, body, facts)
  const found = signs.map((sign) => contains(body, sign))
  const whole = () => ({
    value: parseKeepingDigits(body.toString('utf8'), facts.losesDigits),
    memo: undefined,
  })
  const parsed = settled(() => bodies?.parse(body) ?? whole())
  if (!('result' in parsed) || !isRecord(parsed.result.value)) return { facts, found, parsed: 'refused' }
  const { value, memo } = parsed.result
  const json = deeplyFrozen(value)
  const translated = settled(() => {
    const { body, notes } = translateRequest(
      { client: side, body: json, envelope, strict: false, maxOutputTokensDefault: 100, memo },
      target,
    )
    const bytes =
      memo === undefined
        ? Buffer.from(JSON.stringify(body))
        : writeJson(deeplyFrozen(body), memo, Buffer.alloc)
    return { bytes: bytes.toString(), notes }
  })
  return { facts, found, json: JSON.stringify(json), translated }
}

/** The result, or the error as a client sees it. */
function settled<T>(work: () => T): { result: T } | { error: unknown } {
  try {
    return { result: work() }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (error instanceof TypeError) throw error
    return {
      error:
        error instanceof SyntaxError ? 'SyntaxError' : { ...error, message: error.message, cause: undefined },
    }
  }
}

function deeplyFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deeplyFrozen(member)
  }
  return value
}

/** A conversation that grows, and now and then changes in another way. */
function newSession(random: Random, client: keyof typeof fields): { bounds: JsonBounds; next(): Buffer } {
  const { turnsMember } = clientSide(client)
  const known = structuredClone(fields[client].map((field) => field.with as Json))
  const messages = known.flatMap((body) =>
    Array.isArray(body[turnsMember]) ? (body[turnsMember] as unknown[]) : [],
  )
  // One that is not can be translated, until something is refused.
  const isWild = random.upTo(2) === 0
  const base = isWild ? random.pick(known) : ((fields[client][0]?.without ?? {}) as Json)
  const others = Object.entries(base).filter(([name]) => name !== turnsMember)
  let before: [string, unknown][] = random.shuffle(others).slice(0, random.upTo(others.length))
  let after: [string, unknown][] = others.filter((other) => !before.includes(other))
  let turns: unknown[] = [said('user', 'The system. '.repeat(3_000))]
  const indent = random.pick([0, 0, 0, 1])

  const called = { type: 'tool_use', id: 'call_1', name: 'f' }
  function said(role: string, text: string): Json {
    const content = client === 'anthropic-messages' ? [{ type: 'text', text }] : text
    return { role, content }
  }
  function grow() {
    for (let left = 1 + random.upTo(2); left > 0; left--) {
      if (isWild && random.upTo(1) === 0) turns.push(structuredClone(random.pick(messages)))
      else if (random.upTo(1) === 0) turns.push(...calledTool(random, client))
      else turns.push(said(random.pick(['user', 'assistant']), textOf(random)))
    }
  }
  const wild: (() => void)[] = [
    () => void turns.push(random.pick([1, 12, 3, null, 'text', []])),
    () => {
      const input = { n: random.pick(['@1.0', '@1e400', '@-0', '@1']) }
      turns.push({ role: 'assistant', content: [{ ...called, input }] })
    },
  ]
  const mild: (() => void)[] = [
    () => marked(turns.at(-1), random.upTo(1) === 0),
    () => void turns.splice(random.upTo(turns.length - 1), 1),
    () => void turns.splice(random.upTo(turns.length - 1), 1, said('user', textOf(random))),
    () => {
      after = [...after.filter(([name]) => name !== 'tools'), ['tools', random.pick(known).tools]]
    },
    () => {
      after = [...after.filter(([name]) => name !== 'model'), ['model', random.pick(['m', 'other'])]]
    },
    () => {
      before = random.shuffle(before)
    },
    () => {
      after = random.shuffle(after)
    },
    () => {
      turns = turns.slice(0, -1 - random.upTo(2))
    },
  ]
  const damages: ((text: string) => string)[] = [
    (text) => text.slice(0, random.upTo(text.length)),
    (text) => text.slice(0, -1 - random.upTo(40)),
    (text) => text.replace(/}$/, `,"${turnsMember}":[]}`),
    (text) => text.replace(/}$/, ',"Model":"m"}'),
    (text) => text.replace(/\\n(?=[^"]*$)/, '\\x'),
    (text) => `${text} trailing`,
    (text) => text.replace(/]([^\]]*)$/, ',]$1'),
    (text) => text.replace(/,(?=[^,]*$)/, ' , '),
    (text) => text.replaceAll('é', '\\u00e9'),
    (text) => text.replace(/}(?=[^}]*$)/, `,"x":${'['.repeat(20)}${']'.repeat(20)}}`),
    (text) => text.replace(/}(?=[^}]*$)/, random.pick([',"n":1.0}', ',"n":1e400}', ',"n":-0}'])),
  ]
  const bounds = isWild
    ? { jsonDepthMax: random.pick([5, 6, 8, 20]), jsonValuesMax: random.pick([120, 200, 20_000]) }
    : { jsonDepthMax: 20, jsonValuesMax: 20_000 }
  return {
    bounds,
    next() {
      const last = turns.at(-1)
      if (typeof last === 'number' && random.upTo(1) === 0) turns[turns.length - 1] = last * 10 + 2
      else if (random.upTo(5) === 0) random.pick(isWild ? [...wild, ...mild] : mild)()
      else grow()
      if (turns.length > 40) turns = turns.slice(0, 20)
      const body = Object.fromEntries([...before, [turnsMember, turns], ...after])
      // JSON.stringify would write these numbers in another way.
      const text = JSON.stringify(body, null, indent).replace(/"@([^"]*)"/g, '$1')
      return Buffer.from(isWild && random.upTo(9) === 0 ? random.pick(damages)(text) : text)
    },
  }
}

/** A call of a tool and its result, of which every format but the client's own loses something or changes a name. */
function calledTool(random: Random, client: keyof typeof fields): unknown[] {
  const id = `call_${random.upTo(50)}`
  const name = random.pick(['read', 'a tool', 'a.tool', 'write'])
  const args = { path: textOf(random) }
  const text = textOf(random)
  switch (client) {
    case 'anthropic-messages': {
      const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' }
      const call = { type: 'tool_use', id, name, input: args }
      const result = { type: 'tool_result', tool_use_id: id, content: text, is_error: random.upTo(2) === 0 }
      const last = { type: 'text', text: 'And now?', cache_control: { type: 'ephemeral' } }
      const more = random.pick([[], [last]])
      return [
        { role: 'assistant', content: random.upTo(1) === 0 ? [thought, call] : [call], output_config: {} },
        { role: 'user', content: [result, ...more] },
      ]
    }
    case 'openai-chat': {
      const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
      return [
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: id, content: text },
      ]
    }
    case 'openai-responses':
      return [
        { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: id, output: text },
      ]
  }
}

/** Sets or removes the cache mark of the last part of a message. */
function marked(message: unknown, isSet: boolean): void {
  const content = isRecord(message) ? message.content : undefined
  const last = Array.isArray(content) ? content.at(-1) : undefined
  if (!isRecord(last)) return
  if (isSet) last.cache_control = { type: 'ephemeral' }
  else delete last.cache_control
}

function textOf(random: Random): string {
  const word = random.pick([
    'short',
    'wörter ',
    'a "quoted" \\ text\n',
    '\u0001',
    '😀',
    '\ud800',
    '"file-tg1"',
    'moved',
  ])
  return word.repeat(1 + random.upTo(random.pick([1, 30, 300])))
}

describe('the memory of conversations', () => {
  const facts = (body: Buffer, outline: Outline) =>
    clientSide('openai-chat').readRequest(body, { jsonDepthMax: 20, jsonValuesMax: 1_000, outline })
  const bodyOf = (session: number, texts: readonly string[], characters = 40_000) =>
    Buffer.from(
      JSON.stringify({
        model: 'm',
        messages: [`session ${session}`, 'x'.repeat(characters), ...texts].map((content) => ({
          role: 'user',
          content,
        })),
      }),
    )
  const send = (bodies: RememberedBodies, keyId: string, body: Buffer, parent?: string) => {
    const sender = { keyId, parent: parent === undefined ? undefined : { keyId: parent } }
    const recalled = bodies.recall(sender, 'chat', body, 'messages')
    if (recalled === undefined) return undefined
    bodies.keep(recalled, body, facts(body, recalled.outline))
    bodies.parse(body)
    return recalled.shared
  }

  test('knows the messages of an earlier body of the same key, and nothing of another key', () => {
    const bodies = new RememberedBodies(10_000_000)
    expect(send(bodies, 'one', bodyOf(1, ['a']))).toBe(0)
    expect(send(bodies, 'one', bodyOf(1, ['a', 'b', 'c']))).toBe(3)
    expect(send(bodies, 'other', bodyOf(1, ['a', 'b', 'c']))).toBe(0)
    expect(send(bodies, 'one', bodyOf(2, ['a', 'b', 'c']))).toBe(0)
    // Also where it is written over the earlier body.
    expect(send(bodies, 'one', bodyOf(1, ['a', 'b', 'c', 'd']))).toBe(5)
    expect(send(bodies, 'one', bodyOf(1, ['a', 'b', 'c', 'd', 'e']))).toBe(6)
    // The other session of the key is still known, up to the message that has changed.
    expect(send(bodies, 'one', bodyOf(1, ['a', 'b', 'changed', 'd']))).toBe(4)
  })

  test('does not tell one endpoint what another one has read: they look for other members', () => {
    const bodies = new RememberedBodies(10_000_000)
    const turns = ['x'.repeat(40_000), 'a', 'b'].map((content) => ({ role: 'user', content }))
    const body = Buffer.from(JSON.stringify({ model: 'm', max_tokens: 5, n: 4, messages: turns }))
    for (const client of ['anthropic-messages', 'openai-chat'] as const) {
      const { readRequest } = clientSide(client)
      const bounds = { jsonDepthMax: 20, jsonValuesMax: 1_000 }
      const recalled = bodies.recall({ keyId: 'key' }, client, body, 'messages')
      if (recalled === undefined) throw new Error('the body is too short')
      const facts = readRequest(body, { ...bounds, outline: recalled.outline })
      bodies.keep(recalled, body, facts)
      expect(facts).toEqual(readRequest(body, bounds))
    }
  })

  test('is not read by a turn that was recalled before another one was written over it', () => {
    const bodies = new RememberedBodies(10_000_000)
    const bodyWith = (max: number, last: string) =>
      Buffer.from(bodyOf(1, ['a', 'b', 'c', last]).toString().replace(/}$/, `,"max_tokens":${max}}`))
    const recall = (body: Buffer) => {
      const recalled = bodies.recall({ keyId: 'key' }, 'chat', body, 'messages')
      if (recalled === undefined) throw new Error('the body is too short')
      return { body, recalled, facts: facts(body, recalled.outline) }
    }
    const parsed = ({ body, recalled, facts }: ReturnType<typeof recall>) => {
      bodies.keep(recalled, body, facts)
      return bodies.parse(body)?.value
    }
    parsed(recall(bodyWith(100, 'one')))
    const [first, second] = [recall(bodyWith(200, 'two')), recall(bodyWith(200, 'two'))]
    parsed(first)
    expect(parsed(second)).toEqual(JSON.parse(second.body.toString()))
  })

  test('is that of the latest sessions, within its bound, and what it displaces is freed at once', () => {
    const bytesMax = 16_000_000
    const bodies = new RememberedBodies(bytesMax)
    const characters = amount('SESSION_CHARACTERS', { test: 40_000, chaos: 300_000 })
    const sessions = amount('SESSIONS', { test: 500, chaos: 5_000 })
    const freed = vi.spyOn(ArrayBuffer.prototype, 'transfer')
    for (let session = 0; session < sessions; session++) {
      send(bodies, `key ${session % 40}`, bodyOf(session, ['a'], characters))
      expect(bodies.bytes).toBeLessThanOrEqual(bytesMax)
    }
    expect(bodies.bytes).toBeGreaterThan(bytesMax * 0.9)
    expect(freed.mock.calls.length).toBeGreaterThan(sessions / 2)
    bodies.forget()
    expect(bodies.bytes).toBe(0)
    expect(freed).toHaveBeenCalledTimes(sessions)
    freed.mockRestore()
  })

  test('counts a body again when it is parsed, and forgets one that is larger than its bound then', () => {
    const body = bodyOf(1, ['a'])
    const bodies = new RememberedBodies(10_000_000)
    send(bodies, 'one', body)
    expect(bodies.bytes).toBeGreaterThan(body.length * 3)
    const small = new RememberedBodies(body.length * 2)
    send(small, 'one', body)
    expect(small.bytes).toBe(0)
    expect(send(small, 'one', body)).toBe(0)
  })

  test('counts each message, because short ones take far more memory than their bytes', () => {
    const turns = 5_000
    const body = Buffer.from(
      JSON.stringify({
        model: 'm',
        messages: Array.from({ length: turns }, () => ({ role: 'user', content: '' })),
      }),
    )
    const bodies = new RememberedBodies(100_000_000)
    const recalled = bodies.recall({ keyId: 'key' }, 'chat', body, 'messages')
    if (recalled === undefined) throw new Error('the body is too short')
    const bounds = { jsonDepthMax: 20, jsonValuesMax: 100_000, outline: recalled.outline }
    bodies.keep(recalled, body, clientSide('openai-chat').readRequest(body, bounds))
    expect(bodies.bytes).toBeGreaterThan(body.length + turns * 24)
    bodies.parse(body)
    expect(bodies.bytes).toBeGreaterThan(turns * 1_000)
  })

  test('forgets what the sub-keys of a key have sent', () => {
    const bodies = new RememberedBodies(10_000_000)
    send(bodies, 'sub-key', bodyOf(1, ['a']), 'one')
    bodies.forget(new Set(['other']))
    expect(bodies.bytes).toBeGreaterThan(0)
    bodies.forget(new Set(['one']))
    expect(bodies.bytes).toBe(0)
  })

  test('forgets what a key has sent, and is off with a bound of 0', () => {
    const bodies = new RememberedBodies(10_000_000)
    for (const key of ['one', 'other']) send(bodies, key, bodyOf(1, ['a']))
    bodies.forget(new Set(['one']))
    expect(send(bodies, 'one', bodyOf(1, ['a', 'b']))).toBe(0)
    expect(send(bodies, 'other', bodyOf(1, ['a', 'b']))).toBe(3)
    expect(send(new RememberedBodies(0), 'one', bodyOf(1, ['a']))).toBeUndefined()
  })
})
