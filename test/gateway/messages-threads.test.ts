import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { notingFetch, question, runTool, tools } from '../support/loop.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** The tool runner of the vendor's SDK asks for a thread by default. Only a channel of its own format keeps one. */

let bed: Testbed
let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  bed = await startTestbed({ yaml: () => yaml(vendor.url) })
})
afterAll(async () => {
  await bed.close()
  await vendor.close()
})

describe.each(['via-chat', 'via-gemini'])('a tool runner with threads, %s', (model) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('ends well, %s', async (_, stream) => {
    const { fetch, requestIds } = notingFetch()
    const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, fetch, maxRetries: 0 })
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 4096,
      stream,
      messages: [{ role: 'user', content: question }],
      tools: Object.entries(tools).map(([name, { description, schema }]) =>
        betaTool({ name, description, inputSchema: schema, run: (input) => runTool(name, input) }),
      ),
    })
    const message = await runner.runUntilDone()
    expect(message.stop_reason).toBe('end_turn')
    const [text] = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    expect(text).toContain('The tools answered:')
    const outcomes = await Promise.all(requestIds.map(async (id) => (await bed.row(id)).outcome))
    expect(outcomes).toEqual(['refused', 'succeeded', 'succeeded'])
  })

  test('names what it lacks', async () => {
    const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })
    const asked = client.beta.messages.create({
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
      thread: { type: 'create' },
    })
    await expect(asked).rejects.toMatchObject({
      status: 400,
      error: {
        error: {
          message: expect.stringContaining('thread: '),
          details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
        },
      },
    })
  })
})

function yaml(origin: string): string {
  return `
models:
  - { id: via-chat, context_length: 100000, max_output_tokens: 16384 }
  - { id: via-gemini, context_length: 100000, max_output_tokens: 16384 }
channels:
  - { name: chat, protocols: { openai-chat: ${origin}/v1 }, api_keys: [demo-credential-0001], models: { via-chat: demo-via-chat }, allow_private_address: true }
  - { name: gemini, protocols: { gemini: ${origin}/v1beta }, api_keys: [demo-credential-0001], models: { via-gemini: demo-via-gemini }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
