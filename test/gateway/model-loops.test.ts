import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord } from '../../src/canonical/json.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { inputs, type Loop, notingFetch, runTool } from '../support/loop.ts'
import { aiChatLoop, aiCompatibleLoop, aiMessagesLoop, aiResponsesLoop } from '../support/loop-ai.ts'
import { messagesLoop } from '../support/loop-anthropic.ts'
import { chatLoop, responsesLoop } from '../support/loop-openai.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/**
 * The vendors' own clients run tool loops, with sampling parameters, over models that differ in what they take. The strict
 * vendor refuses what each real one refuses, so a loop ends only if every request was fitted to its model.
 */

const models = {
  'claude-opus-4-8': { protocol: 'anthropic-messages', vendor: 'anthropic', what: 'adaptive thinking' },
  'claude-opus-5-5': { protocol: 'anthropic-messages', vendor: 'anthropic', what: 'thinking always' },
  'claude-haiku-4-5': { protocol: 'anthropic-messages', vendor: 'anthropic', what: 'thinking with a budget' },
  'gpt-5': { protocol: 'openai-responses', vendor: 'openai', what: 'no sampling' },
  'gpt-5.6-sol': { protocol: 'openai-chat', vendor: 'openai', what: 'no tools while it thinks' },
  'mistral-small-latest': { protocol: 'openai-chat', vendor: 'mistral', what: 'max_tokens only' },
  'deepseek-v4.1-flash': {
    protocol: 'openai-chat',
    vendor: 'deepseek',
    what: 'max_tokens, and thoughts back',
  },
  'gemini-2.5-flash': { protocol: 'gemini', vendor: 'gemini', what: 'thinking with a budget' },
  'gemini-3.8-flash': { protocol: 'gemini', vendor: 'gemini', what: 'thinking in words' },
} as const
type Model = keyof typeof models

const clients: Record<string, { loop: Loop; protocol: string }> = {
  'openai chat.completions': { loop: chatLoop, protocol: 'openai-chat' },
  'openai responses': { loop: responsesLoop, protocol: 'openai-responses' },
  '@anthropic-ai/sdk messages': { loop: messagesLoop, protocol: 'anthropic-messages' },
  'ai with openai.chat': { loop: aiChatLoop, protocol: 'openai-chat' },
  'ai with openai.responses': { loop: aiResponsesLoop, protocol: 'openai-responses' },
  'ai with anthropic': { loop: aiMessagesLoop, protocol: 'anthropic-messages' },
  'ai with openai-compatible': { loop: aiCompatibleLoop, protocol: 'openai-chat' },
}

let vendor: Vendor
let bed: Testbed

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  bed = await startTestbed({ yaml: () => yaml(vendor.url) })
})
afterAll(async () => {
  await bed?.close()
  await vendor?.close()
})

// A request in the upstream's own format is passed through as it is: its client knows its model.
const pairs = Object.entries(clients).flatMap(([name, { loop, protocol }]) =>
  (Object.keys(models) as Model[])
    .filter((model) => models[model].protocol !== protocol)
    .map((model) => ({ name, loop, model, what: models[model].what })),
)

describe.each(pairs)('$name to $model, with $what', ({ loop, model }) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('ends a loop of three turns, %s', async (_how, stream) => {
    const { fetch } = notingFetch()
    const turns = await loop({
      origin: bed.tollgate.url,
      apiKey: freeKey,
      model,
      stream,
      fetch: sampling(fetch),
    })

    const asked = Object.entries(inputs).map(([name, input]) => ({ id: expect.any(String), name, input }))
    expect(turns.map(({ calls }) => calls)).toEqual([asked, asked, []])
    expect(turns[2]?.text).toContain(
      `The tools answered: ${asked.map(({ name, input }) => runTool(name, input)).join('; ')}`,
    )
  })
})

/** A client that wants sampling beside what its SDK asks for. */
function sampling(inner: typeof fetch): typeof fetch {
  return (input, init) => {
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    if (!isRecord(body)) return inner(input, init)
    const members = { temperature: 0.3, top_p: 0.9, ...body }
    return inner(input, { ...init, body: JSON.stringify(members) })
  }
}

function yaml(origin: string): string {
  const bases: Record<string, string> = {
    'anthropic-messages': origin,
    gemini: `${origin}/v1beta`,
  }
  const names = Object.keys(models) as Model[]
  return `
models:
${names.map((model) => `  - { id: ${model}, context_length: 100000, max_output_tokens: 16384 }`).join('\n')}
channels:
${names
  .map((model) => {
    const { protocol, vendor: maker } = models[model]
    const base = bases[protocol] ?? `${origin}/v1`
    return `  - { name: ${model}, vendor: ${maker}, protocols: { ${protocol}: ${base} }, api_keys: [demo-credential-0001], models: { ${model}: ${model} }, allow_private_address: true }`
  })
  .join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
