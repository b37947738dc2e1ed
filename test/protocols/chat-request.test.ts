import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Json } from '../../src/canonical/json.ts'
import { readConfig } from '../../src/config/config.ts'
import { readRequest } from '../../src/protocols/openai-chat/request.ts'
import { BodySpans, patchedPieces, patchRequest } from '../../src/protocols/patch-request.ts'
import { type Random, seeded } from '../support/random.ts'
import { escapeRandomly, joinRandomly, randomJson, randomMember, randomString } from './random-json.ts'

const bounds = { jsonDepthMax: 64, jsonValuesMax: 100_000 }
const hello = [{ role: 'user', content: 'hello' }]

const read = (body: object) => readRequest(Buffer.from(JSON.stringify(body)), bounds)
const patched = (text: string, model: string) => {
  const raw = Buffer.from(text)
  return patchRequest(raw, readRequest(raw, bounds), { model }).toString()
}

describe('readRequest', () => {
  it.each<[string, object]>([
    [
      '2,000 messages',
      {
        messages: Array.from({ length: 2000 }, () => ({
          role: 'user',
          content: [{ type: 'text', text: 'x' }],
          name: 'n',
          a: 1,
          b: 2,
        })),
      },
    ],
    [
      '200 tools of 50 members',
      {
        tools: Array.from({ length: 200 }, (_, i) => ({
          type: 'function',
          function: { name: `f${i}`, parameters: { type: 'object', properties: members(50) } },
        })),
      },
    ],
    [
      'a bias for 100,000 tokens',
      { logit_bias: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, -1])) },
    ],
  ])('takes %s by default', (_, more) => {
    const raw = Buffer.from(JSON.stringify({ model: 'm', messages: hello, ...more }))
    expect(readRequest(raw, readConfig({}).bounds).model).toBe('m')
  })

  it('by default refuses a body that takes a long time to parse', () => {
    const raw = Buffer.from(`{"model":"m","messages":[1],"z":[${'[],'.repeat(250_000)}[]]}`)
    expect(refusalOf(() => readRequest(raw, readConfig({}).bounds)).message).toMatch(
      /250000 JSON keys and values/,
    )
  })

  it('reads the members for admission and routing', () => {
    const facts = read({
      model: 'gpt-main',
      messages: hello,
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 10,
      max_completion_tokens: 20,
      n: 3,
    })
    expect(facts).toMatchObject({
      model: 'gpt-main',
      stream: true,
      wantsUsageFrame: true,
      maxOutputTokens: 20,
      choices: 3,
    })
  })

  it('reads null like an absent member', () => {
    const bare = { stream: false, wantsUsageFrame: false, maxOutputTokens: undefined, choices: 1 }
    expect(read({ model: 'm', messages: hello })).toMatchObject(bare)
    expect(
      read({ model: 'm', messages: hello, stream: null, stream_options: null, max_tokens: null, n: null }),
    ).toMatchObject(bare)
  })

  it('takes 0 for no bound of the output, whichever member has it', () => {
    for (const bounds of [{ max_tokens: 0 }, { max_completion_tokens: 0, max_tokens: 5 }, { max_tokens: -0 }])
      expect(read({ model: 'm', messages: hello, ...bounds }).maxOutputTokens).toBeUndefined()
  })

  it('reads a model name that is written with escapes', () => {
    const raw = Buffer.from('{"model":"a\\u002fb\\"c","messages":[1]}')
    expect(readRequest(raw, bounds).model).toBe('a/b"c')
  })

  it.each([
    [{ messages: hello }, 'model', /^model: required/],
    [{ model: 5, messages: hello }, 'model', /^model: expected a string, got number$/],
    [{ model: '', messages: hello }, 'model', /got an empty string/],
    [{ model: 'x'.repeat(257), messages: hello }, 'model', /at most 256 characters, got 257/],
    [{ model: 'a\u0000b', messages: hello }, 'model', /printable/],
    [{ model: 'm' }, 'messages', /^messages: required/],
    [{ model: 'm', messages: 'hi' }, 'messages', /^messages: expected a non-empty array, got string$/],
    [{ model: 'm', messages: [] }, 'messages', /got an empty one/],
    [{ model: 'm', messages: hello, stream: 'yes' }, 'stream', /^stream: expected a boolean, got string$/],
    [{ model: 'm', messages: hello, stream: true, stream_options: [] }, 'stream_options', /got array/],
    [
      { model: 'm', messages: hello, stream: true, stream_options: { include_usage: 1 } },
      'stream_options.include_usage',
      /expected a boolean, got number/,
    ],
    [{ model: 'm', messages: hello, max_tokens: -1 }, 'max_tokens', /0 or more, got -1/],
    [{ model: 'm', messages: hello, max_completion_tokens: 1.5 }, 'max_completion_tokens', /integer/],
    [{ model: 'm', messages: hello, n: 0 }, 'n', /from 1 to 128, got 0/],
    [{ model: 'm', messages: hello, n: 129 }, 'n', /from 1 to 128, got 129/],
  ])('refuses %j naming %s', (body, field, message) => {
    const refusal = refusalOf(() => read(body))
    expect(refusal).toMatchObject({ kind: 'invalid_request', field })
    expect(refusal.message).toMatch(message)
  })

  it('refuses a second model, because another reader may use that one', () => {
    const raw = Buffer.from('{"model":"cheap","messages":[1],"mod\\u0065l":"dear"}')
    expect(refusalOf(() => readRequest(raw, bounds)).message).toBe(
      'model: occurs twice in the same object: send it once',
    )
  })
})

describe('patchRequest', () => {
  it('returns the same buffer if nothing changes', () => {
    for (const body of [
      { model: 'm', messages: hello },
      { model: 'm', messages: hello, stream: true, stream_options: { include_usage: true } },
      { model: 'm', messages: hello, stream: false, stream_options: { include_usage: false } },
    ]) {
      const raw = Buffer.from(JSON.stringify(body))
      expect(patchRequest(raw, readRequest(raw, bounds), { model: 'm' })).toBe(raw)
    }
  })

  it('changes only the bytes of the model', () => {
    expect(patched('{ "messages":[1e0, "\\u00e9"] ,\n"model" :\t"m" , "x":1.0}', 'up "x"')).toBe(
      '{ "messages":[1e0, "\\u00e9"] ,\n"model" :\t"up \\"x\\"" , "x":1.0}',
    )
  })

  it('asks for usage in a stream that does not ask for it', () => {
    const head = '"model":"m","messages":[1],"stream":true'
    expect(patched(`{${head}}`, 'm')).toBe(`{"stream_options":{"include_usage":true},${head}}`)
    expect(patched(`{${head},"stream_options": null}`, 'm')).toBe(
      `{${head},"stream_options": {"include_usage":true}}`,
    )
    expect(patched(`{${head},"stream_options":{ }}`, 'm')).toBe(
      `{${head},"stream_options":{"include_usage":true }}`,
    )
    expect(patched(`{${head},"stream_options":{"include_obfuscation":false}}`, 'm')).toBe(
      `{${head},"stream_options":{"include_usage":true,"include_obfuscation":false}}`,
    )
    expect(patched(`{${head},"stream_options":{"include_usage" : null}}`, 'm')).toBe(
      `{${head},"stream_options":{"include_usage" : true}}`,
    )
  })

  it.each([
    ['{"model":"m","tools":[],"messages":[1]}', '{"model":"m","messages":[1]}'],
    ['{ "tools" : [ ] , "model":"m","messages":[1]}', '{  "model":"m","messages":[1]}'],
    ['{"model":"m","messages":[1], "tools":[]\n}', '{"model":"m","messages":[1]\n}'],
    [
      '{"tool_choice":"auto","t\\u006fols":[],"parallel_tool_calls":true,"model":"m","messages":[1]}',
      '{"model":"m","messages":[1]}',
    ],
    [
      '{"model":"m","tools":[],"messages":[1],"tool_choice":null,"parallel_tool_calls":false}',
      '{"model":"m","messages":[1]}',
    ],
    // The upstream refuses a choice that demands a call, as it would without us.
    [
      '{"model":"m","messages":[1],"tools":[],"tool_choice":"required"}',
      '{"model":"m","messages":[1],"tool_choice":"required"}',
    ],
    [
      '{"tools":[],"model":"m","messages":[1],"stream":true}',
      '{"stream_options":{"include_usage":true},"model":"m","messages":[1],"stream":true}',
    ],
  ])('leaves out an empty list of tools and what means nothing without it: %s', (before, after) => {
    const raw = Buffer.from(before)
    const facts = readRequest(raw, bounds)
    expect(patchRequest(raw, facts, { model: 'm' }).toString()).toBe(after)
    expect(Buffer.concat(patchedPieces(raw, facts, { model: 'm' })).toString()).toBe(after)
    expect(facts.unsent?.map(({ path, action }) => [path, action])).toContainEqual(['tools', 'mapped'])
    // As facts that another thread has found.
    const spans = BodySpans.from(structuredClone(facts.spans) as BodySpans)
    expect(patchRequest(raw, { ...facts, spans }, { model: 'm' }).toString()).toBe(after)
  })

  it('sends tools that are not an empty list as they are', () => {
    for (const tools of ['[{}]', 'null', '{}', '""']) {
      const raw = Buffer.from(`{"model":"m","messages":[1],"tools":${tools},"tool_choice":"auto"}`)
      const facts = readRequest(raw, bounds)
      expect(patchRequest(raw, facts, { model: 'm' })).toBe(raw)
      expect(facts.unsent).toBeUndefined()
    }
  })

  it('writes the changed bytes to the offered memory', () => {
    const raw = Buffer.from('{"model":"m","messages":[1]}')
    const offered: Buffer[] = []
    const allocate = (bytes: number) => {
      const memory = Buffer.alloc(bytes)
      offered.push(memory)
      return memory
    }
    const result = patchRequest(raw, readRequest(raw, bounds), { model: 'other', allocate })
    expect(result).toBe(offered[0])
    expect(result.toString()).toBe('{"model":"other","messages":[1]}')
    expect(patchRequest(raw, readRequest(raw, bounds), { model: 'm', allocate })).toBe(raw)
    expect(offered).toHaveLength(1)
  })

  it('makes exactly the expected change in any body', () => {
    const random = seeded(11)
    for (let round = 0; round < 5000; round++) {
      const raw = Buffer.from(randomBody(random))
      const facts = readRequest(raw, bounds)
      const model = random.pick([facts.model, 'other', 'ünï/"x"'])
      const before = JSON.parse(raw.toString())
      const expected = withoutEmptyTools({ ...before, model })
      if (before.stream === true) expected.stream_options = { ...before.stream_options, include_usage: true }
      const result = patchRequest(raw, facts, { model })
      const asksAlready = before.stream !== true || before.stream_options?.include_usage === true
      const isWhole = facts.unsent === undefined
      expect(isWhole).toBe(!isEmptyList(before.tools))
      if (model === facts.model && asksAlready && isWhole) expect(result).toBe(raw)
      else expect(JSON.parse(result.toString())).toEqual(expected)
    }
  })
})

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function withoutEmptyTools({ tools, tool_choice, parallel_tool_calls, ...body }: Json): Json {
  const given = (members: Json) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  if (!isEmptyList(tools)) return { ...body, ...given({ tools, tool_choice, parallel_tool_calls }) }
  const isIdle = tool_choice === 'auto' || tool_choice === 'none' || tool_choice === null
  return isIdle ? body : { ...body, ...given({ tool_choice }) }
}

function randomBody(random: Random): string {
  const member = (name: string, value: string) => randomMember(random, escapeRandomly(random, name), value)
  const members = [
    member('model', random.pick(['"m"', '"a\\/b"', '"\\u00e9"', '"漢"'])),
    member('messages', `[${randomJson(random)}]`),
    ...Array.from({ length: random.upTo(3) }, (_, i) => member(`extra${i}`, randomJson(random))),
  ]
  if (random.next() < 0.8) members.push(member('stream', random.pick(['true', 'true', 'false', 'null'])))
  if (random.next() < 0.5) members.push(member('tools', random.pick(['[]', '[ ]', '[{}]', 'null'])))
  if (random.next() < 0.5) {
    members.push(member('tool_choice', random.pick(['"auto"', '"n\\u006fne"', '"required"', 'null', '{}'])))
  }
  if (random.next() < 0.5) members.push(member('parallel_tool_calls', random.pick(['true', 'false'])))
  if (random.next() < 0.7) members.push(member('stream_options', randomStreamOptions(random)))
  return joinRandomly(random, '{', '}', random.shuffle(members))
}

function randomStreamOptions(random: Random): string {
  if (random.next() < 0.2) return 'null'
  const members = Array.from({ length: random.upTo(2) }, (_, i) =>
    randomMember(random, `"o${i}"`, random.pick([randomString(random), '[{"include_usage":true}]', '1'])),
  )
  const flag = random.pick(['', 'true', 'false', 'null'])
  if (flag !== '') members.push(randomMember(random, escapeRandomly(random, 'include_usage'), flag))
  return joinRandomly(random, '{', '}', random.shuffle(members))
}

function members(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, { type: 'string' }]))
}

function refusalOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
