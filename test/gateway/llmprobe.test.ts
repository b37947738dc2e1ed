import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { runLlmprobe } from '../support/llmprobe.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { errorAnswer } from '../support/upstream-plans.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/**
 * llmprobe, a conformance suite that others wrote, runs against Tollgate over the strict vendor in each upstream format.
 * The lists are exact: a check with another outcome fails here, also when it is a better one.
 */

const upstreams = {
  'over-chat': 'openai-chat',
  'over-responses': 'openai-responses',
  'over-messages': 'anthropic-messages',
  'over-gemini': 'gemini',
} as const
type Model = keyof typeof upstreams

interface Expected {
  /** Assertions with MUST that fail, with the reason. */
  failed: Record<string, string>
  inconclusive: string[]
  unsupported: string[]
}

/** The scripted model copies no text, continues no prefill, and calls a tool only once. It has no embeddings. */
const inconclusive = [
  'chat-assistant-prefill',
  'chat-parallel-tools',
  'embeddings-basic',
  'messages-assistant-prefill',
  'messages-parallel-tools',
  'messages-system-blocks',
  'responses-parallel-tools',
]

/** The suite itself says about `responses-mcp-tools` and `responses-reasoning-roundtrip` that it cannot ask for them. */
const unsupported = [
  'chat-logprobs',
  'chat-rate-limit-headers',
  'embeddings-dimensions',
  'images-edit',
  'messages-rate-limit-headers',
  'responses-background',
  'responses-mcp-tools',
  'responses-rate-limit-headers',
  'responses-reasoning-roundtrip',
]

const expected: Record<Model, Expected> = {
  'over-chat': {
    failed: {},
    inconclusive: [...inconclusive, 'messages-stop-sequence-echo'],
    unsupported: [...unsupported, 'responses-previous-response-id'],
  },
  'over-responses': {
    failed: {},
    inconclusive,
    unsupported: [...unsupported, 'chat-n-choices'],
  },
  'over-messages': {
    failed: {},
    inconclusive: [...inconclusive, 'chat-reasoning-cap', 'responses-reasoning-cap'],
    unsupported: [
      ...unsupported,
      'chat-n-choices',
      'messages-reasoning-cap',
      'responses-previous-response-id',
    ],
  },
  'over-gemini': {
    failed: {},
    inconclusive: [...inconclusive, 'messages-stop-sequence-echo'],
    unsupported: [...unsupported, 'chat-n-choices', 'responses-previous-response-id'],
  },
}

let bed: Testbed
let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0, isOpenResponses: true })
  bed = await startTestbed({ yaml: (spare) => yaml(vendor.url, spare) })
  bed.upstream.script(({ path }) =>
    path === '/v1/completions'
      ? completion
      : errorAnswer(400, { type: 'invalid_request_error', message: 'This upstream has only completions.' }),
  )
})
afterAll(async () => {
  await bed.close()
  await vendor.close()
})

describe.each(Object.keys(upstreams) as Model[])('llmprobe %s', (model) => {
  test('finds what the lists say, and nothing else', async () => {
    const report = await runLlmprobe({ baseUrl: `${bed.tollgate.url}/v1`, apiKey: freeKey, model })
    expect(report.run.phases.conformance.status).toBe('measured')
    const { results } = report.conformance
    const having = (outcome: string) => results.filter((result) => result.outcome === outcome)
    const failed = results
      .flatMap(({ failures = [] }) => failures)
      .filter(({ severity }) => severity === 'MUST')
    const named = (outcome: string) =>
      having(outcome)
        .map(({ id }) => id)
        .sort()

    expect([...new Set(failed.map(({ id }) => id))].sort(), JSON.stringify(failed, null, 2)).toEqual(
      Object.keys(expected[model].failed),
    )
    expect(named('inconclusive')).toEqual([...expected[model].inconclusive].sort())
    expect(named('unsupported')).toEqual([...expected[model].unsupported].sort())
    expect(named('unreachable')).toEqual([])
    // The suite's slow checks are not run.
    expect(having('skipped')).toHaveLength(19)
    expect(results).toHaveLength(125)
  })

  test('was answered by this upstream and no other', async () => {
    const answered = () =>
      bed.database.sql`
        SELECT DISTINCT endpoint, upstream_protocol AS protocol FROM requests
        WHERE requested_model = ${model} AND outcome = 'succeeded'
          AND endpoint IN ('/v1/chat/completions', '/v1/responses', '/v1/messages') ORDER BY endpoint`
    const endpoints = ['/v1/chat/completions', '/v1/messages', '/v1/responses']
    await expect
      .poll(answered)
      .toEqual(endpoints.map((endpoint) => ({ endpoint, protocol: upstreams[model] })))
  })
})

const completion = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'spare',
    choices: [{ index: 0, text: ' Paris.', logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 },
  }),
}

/** Only Chat channels have /v1/completions, so each model has a second channel, which answers nothing else. */
function yaml(origin: string, spare: string): string {
  const bases: Record<Model, string> = {
    'over-chat': `${origin}/v1`,
    'over-responses': `${origin}/v1`,
    'over-messages': origin,
    'over-gemini': `${origin}/v1beta`,
  }
  const models = Object.keys(upstreams) as Model[]
  const shared = 'api_keys: [vendor-credential-0001], allow_private_address: true'
  const channels = models.map(
    (model) =>
      `  - { name: ${model}, protocols: { ${upstreams[model]}: ${bases[model]} }, models: [${model}], priority: 1, ${shared} }`,
  )
  return `
models:
${models.map((model) => `  - { id: ${model}, context_length: 100000, max_output_tokens: 16384, traits: { output_tokens_min: 1 } }`).join('\n')}
channels:
${channels.join('\n')}
  - { name: spare, protocols: { openai-chat: ${spare} }, models: [${models.slice(1).join(', ')}], ${shared} }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
