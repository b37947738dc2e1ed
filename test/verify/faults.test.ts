import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../src/canonical/json.ts'
import { type Fault, type GivenAnswer, startFaultyGateway } from '../support/faulty-gateway.ts'
import { notOk, runVerify, verifyKey, verifyReport } from '../support/run-verify.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** `tollgate verify` finds each fault of a gateway whose upstream is good, and finds no other. */
let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor.close())

type Change = NonNullable<Fault['answer']>

const without =
  (...names: string[]) =>
  (body: Json): Json =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)))

const ofStreams =
  (change: (answer: GivenAnswer) => GivenAnswer): Change =>
  (answer) =>
    answer.type.includes('event-stream') ? change(answer) : answer

const ofErrors =
  (change: (answer: GivenAnswer) => GivenAnswer): Change =>
  (answer) =>
    answer.status >= 400 ? change(answer) : answer

const streams = ['streaming', 'usage in stream', 'tools in stream', 'parallel tools in stream']
const broken = (...names: string[]) => names.map((name) => `${name}: broken`)
const ignored = (...names: string[]) => names.map((name) => `${name}: ignored`)

interface Case {
  only: 'chat' | 'responses' | 'messages'
  fault: Fault
  /** What is not ok besides that which the vendor itself lacks. */
  found: string[]
  code: 0 | 1
}

const lastEvent = /[^\n]+\n(?:data:[^\n]*\n)?\n$/

const cases: Record<string, Case> = {
  'breaks the connection in the middle of a stream': {
    only: 'chat',
    fault: { answer: ofStreams((answer) => ({ ...answer, text: answer.text.slice(0, 300), ending: 'cut' })) },
    found: broken(...streams),
    code: 1,
  },
  'ends a Chat stream without [DONE]': {
    only: 'chat',
    fault: {
      answer: ofStreams((answer) => ({ ...answer, text: answer.text.replace('data: [DONE]\n\n', '') })),
    },
    found: broken(...streams),
    code: 1,
  },
  'ends a Responses stream without its last event': {
    only: 'responses',
    fault: { answer: ofStreams((answer) => ({ ...answer, text: answer.text.replace(lastEvent, '') })) },
    found: broken(...streams),
    code: 1,
  },
  'ends a Messages stream without message_stop': {
    only: 'messages',
    fault: { answer: ofStreams((answer) => ({ ...answer, text: answer.text.replace(lastEvent, '') })) },
    found: broken(...streams),
    code: 1,
  },
  'begins a Messages block before the one before it ends': {
    only: 'messages',
    fault: {
      answer: ofStreams((answer) => ({
        ...answer,
        text: answer.text.replace(/event: content_block_stop\ndata: [^\n]*\n\n/, ''),
      })),
    },
    found: broken(...streams),
    code: 1,
  },
  'streams other arguments than the last event of Responses has': {
    only: 'responses',
    fault: {
      answer: ofStreams((answer) => ({ ...answer, text: answer.text.replace('"delta":"{', '"delta":"{ ') })),
    },
    found: broken('tools in stream', 'parallel tools in stream'),
    code: 1,
  },
  'begins a Responses item before the one before it is done': {
    only: 'responses',
    fault: {
      answer: ofStreams((answer) => ({
        ...answer,
        text: answer.text.replace(/event: response.output_item.done\ndata: [^\n]*\n\n/, ''),
      })),
    },
    found: broken('parallel tools in stream'),
    code: 1,
  },
  'does not stream': {
    only: 'chat',
    fault: { request: without('stream', 'stream_options') },
    found: ignored(...streams),
    code: 1,
  },
  'drops tools': {
    only: 'messages',
    fault: { request: without('tools', 'tool_choice') },
    found: [
      ...ignored('tools', 'tools in stream'),
      ...['parallel tools', 'parallel tools in stream', 'second tool turn', 'disable_parallel_tool_use'].map(
        (name) => `${name}: unknown`,
      ),
    ],
    code: 0,
  },
  'gives no usage in a stream': {
    only: 'chat',
    fault: { request: without('stream_options') },
    found: ignored('usage in stream'),
    code: 0,
  },
  'drops stop, a bound, the schema, n and the choice of tools': {
    only: 'chat',
    fault: { request: without('stop', 'max_tokens', 'response_format', 'n', 'tool_choice') },
    found: [
      // The vendor calls the tool that the text names, so a choice that is dropped does no harm there.
      ...ignored(
        'structured output',
        'stop',
        'max_tokens',
        'n',
        'response_format json_object',
        'tool_choice none',
      ),
    ],
    code: 0,
  },
  'drops images and system prompts': {
    only: 'responses',
    fault: {
      request: (body) => {
        const text = JSON.stringify(without('instructions')(body))
        return JSON.parse(text.replace(/,\{"type":"input_image"[^}]*\}/, ''))
      },
    },
    found: ignored('image input', 'system prompt'),
    code: 0,
  },
  'answers errors of Chat in an envelope of its own': {
    only: 'chat',
    fault: { answer: ofErrors((answer) => ({ ...answer, text: '{"detail":"wrong"}' })) },
    found: broken('error envelope', 'logprobs'),
    code: 1,
  },
  'answers errors of Messages in the envelope of Chat': {
    only: 'messages',
    fault: {
      answer: ofErrors((answer) => ({
        ...answer,
        text: '{"error":{"message":"no","type":"invalid_request_error"}}',
      })),
    },
    found: broken('error envelope'),
    code: 1,
  },
  'answers a malformed request': {
    only: 'chat',
    fault: {
      request: (body) =>
        typeof body.messages === 'string' ? { ...body, messages: [{ role: 'user', content: 'x' }] } : body,
    },
    found: broken('error envelope'),
    code: 1,
  },
  'answers a finish_reason of null': {
    only: 'chat',
    fault: {
      answer: (answer) => ({
        ...answer,
        text: answer.text.replace('"finish_reason":"length"', '"finish_reason":null'),
      }),
    },
    found: broken('max_completion_tokens', 'max_tokens'),
    code: 1,
  },
  'wants the members of its own call back in the second turn': {
    only: 'chat',
    fault: {
      request: (body) => {
        const text = JSON.stringify(body)
        if (text.includes('"role":"tool"') && !text.includes('a-signature'))
          return { ...body, messages: 'No signature' }
        return JSON.parse(text.replaceAll('"extra_content":"a-signature",', ''))
      },
      answer: (answer) => ({
        ...answer,
        text: answer.text.replaceAll('"type":"function"', '"extra_content":"a-signature","type":"function"'),
      }),
    },
    found: [],
    code: 0,
  },
  'refuses the older way to ask for reasoning': {
    only: 'messages',
    fault: {
      request: (body) =>
        JSON.stringify(body).includes('budget_tokens')
          ? { ...body, messages: 'Use adaptive thinking' }
          : body,
    },
    found: [],
    code: 0,
  },
  'fails with a page of HTML': {
    only: 'chat',
    fault: {
      answer: (answer, { body }) =>
        body.seed === undefined ? answer : { status: 502, type: 'text/html', text: '<h1>Bad gateway</h1>' },
    },
    found: broken('seed'),
    code: 1,
  },
  'is overloaded for one request': {
    only: 'chat',
    fault: {
      answer: (answer, { body }) =>
        body.seed === undefined
          ? answer
          : { status: 503, type: 'application/json', text: '{"error":{"message":"Overloaded"}}' },
    },
    found: ['seed: unknown'],
    code: 0,
  },
}

describe('a gateway that', () => {
  test.each(Object.entries(cases))('%s', async (_name, { only, fault, found, code }) => {
    const gateway = await startFaultyGateway(vendor.url, fault)
    try {
      const report = await verifyReport(['--base', gateway.url, '--model', 'vendor', '--only', only])
      const lacking = /: (model list|usage log|logprobs|top_logprobs): (refused|unknown)$/
      const names = notOk(report)
        .filter((line) => !lacking.test(line))
        .map((line) => line.replace(/^[^:]*: /, ''))
      expect(names.sort(), JSON.stringify(report.sections, null, 1)).toEqual([...found].sort())
      expect(report.exit_code).toBe(code)
    } finally {
      await gateway.close()
    }
  })

  test('repeats the key in an error does not get it printed, nor its control characters', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: ofErrors((answer) => ({
        ...answer,
        text: JSON.stringify({ error: { message: `Key ${verifyKey} \u001b[31m may not`, type: 'no' } }),
      })),
    })
    try {
      const { stdout, stderr } = await runVerify([
        '--base',
        gateway.url,
        '--model',
        'vendor',
        '--only',
        'chat',
      ])
      expect(stdout).toContain('400 no: Key [key] [31m may not')
      expect(stdout + stderr).not.toContain(verifyKey)
      expect(stdout + stderr).not.toContain('\u001b')
    } finally {
      await gateway.close()
    }
  })

  test('never ends one answer costs that check its deadline, and the others go on', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { body }) =>
        body.seed === undefined ? answer : { ...answer, text: '{', ending: 'hang' },
    })
    try {
      const args = ['--base', gateway.url, '--model', 'vendor', '--only', 'chat', '--timeout', '1']
      const report = await verifyReport(args)
      const checks = report.sections.flatMap(({ checks }) => checks)
      expect(checks.find(({ name }) => name === 'seed')).toMatchObject({
        verdict: 'broken',
        detail: 'no complete response within 1 s',
      })
      expect(checks.at(-1)).toMatchObject({ name: 'metadata', verdict: 'ok' })
      expect(report.exit_code).toBe(1)
    } finally {
      await gateway.close()
    }
  })

  test('has a limit is asked again when it says, and no more often than the start says', async () => {
    let refused = 0
    const limited = { status: 429, type: 'application/json', text: '{"error":{"message":"Slow down"}}' }
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { body }) =>
        body.seed !== undefined || (body.top_p !== undefined && refused++ < 2)
          ? { ...limited, headers: { 'retry-after': '0' } }
          : answer,
    })
    try {
      const report = await verifyReport(['--base', gateway.url, '--model', 'vendor', '--only', 'chat'])
      const checks = report.sections.flatMap(({ checks }) => checks)
      expect(checks.find(({ name }) => name === 'top_p')).toMatchObject({ verdict: 'ok', calls: 3 })
      expect(checks.find(({ name }) => name === 'seed')).toMatchObject({ verdict: 'unknown', calls: 4 })
      expect(report.calls).toBeLessThanOrEqual(report.calls_max)
    } finally {
      await gateway.close()
    }
  })

  test('hangs when Ctrl-C comes has each table printed once', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { body }) => {
        if ('input' in body) return { ...answer, text: '{', ending: 'hang' }
        return 'messages' in body ? { status: 404, type: 'text/plain', text: 'Not Found' } : answer
      },
    })
    const stopper = new AbortController()
    try {
      const { code, stdout } = await runVerify(['--base', gateway.url, '--model', 'vendor'], {
        signal: stopper.signal,
        onOutput: (text) => {
          if (text.startsWith('\nChat completions  not served')) setImmediate(() => stopper.abort())
        },
      })
      expect(code).toBe(130)
      for (const title of ['Service', 'Chat completions  not served'])
        expect(stdout.split(`\n${title}`)).toHaveLength(2)
    } finally {
      await gateway.close()
    }
  })

  test('redirects is exit code 3, and says where to', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer) => ({ ...answer, status: 308, headers: { location: 'https://example.com/v1' } }),
    })
    try {
      const { code, stderr } = await runVerify(['--base', gateway.url, '--model', 'vendor'])
      expect(code).toBe(3)
      expect(stderr).toContain('redirects to https://example.com/v1. Set --base to that address.')
    } finally {
      await gateway.close()
    }
  })

  test.each([
    [15, 'ok', 0],
    [16, 'broken', 1],
  ] as const)('has %d tokens in its usage log is %s when the answer has 15', async (input, verdict, code) => {
    const row = {
      id: 'a-request',
      outcome: 'succeeded',
      tokens: { input, cache_read: 0, cache_write: 0, output: 21, reasoning: 0 },
      cost_nano_usd: null,
    }
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { path }) =>
        path === '/v1/usage/requests/a-request'
          ? { status: 200, type: 'application/json', text: JSON.stringify(row) }
          : { ...answer, headers: { 'x-request-id': 'a-request' } },
    })
    try {
      const report = await verifyReport(['--base', gateway.url, '--model', 'vendor', '--only', 'chat'])
      expect(report.sections[0]?.checks[1]).toMatchObject({ name: 'usage log', verdict })
      expect(report.exit_code).toBe(code)
    } finally {
      await gateway.close()
    }
  })

  test('refuses the key is exit code 4, and says so', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: () => ({ status: 401, type: 'application/json', text: '{"error":{"message":"Unknown key."}}' }),
    })
    try {
      const { code, stderr } = await runVerify(['--base', gateway.url, '--model', 'vendor'])
      expect(code).toBe(4)
      expect(stderr).toContain('rejects the key: 401: Unknown key. Check that it is a key of this server.')
    } finally {
      await gateway.close()
    }
  })

  test('has one format of three is good, unless the others are asked for by name', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { body }) =>
        'input' in body || 'max_tokens' in body
          ? { status: 404, type: 'text/plain', text: 'Not Found' }
          : answer,
    })
    try {
      const args = ['--base', gateway.url, '--model', 'vendor']
      const report = await verifyReport(args)
      expect(report.sections.map(({ served }) => served)).toEqual([true, true, false, false])
      expect(report.sections.map(({ checks }) => checks.length).slice(2)).toEqual([1, 1])
      expect(report.exit_code).toBe(0)
      expect((await verifyReport([...args, '--only', 'chat,messages'])).exit_code).toBe(1)
    } finally {
      await gateway.close()
    }
  })
})
