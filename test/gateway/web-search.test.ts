import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import { responsesAnswer } from '../protocols/web-search-answers.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { citedText, searchPage } from '../support/vendor/messages/search.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** The strict Messages vendor searches the web for clients of its own format and of another. */

const model = 'searching'
const question = 'Please search the web for a page.'

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

const openai = () => new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
const anthropic = () => new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })

test.each([
  ['whole', false],
  ['streamed', true],
])('a Responses client gets the search and its source, and can go on, %s', async (_how, isStreamed) => {
  const ask = async (input: OpenAI.Responses.ResponseInput) => {
    const params = { model, input, tools: [{ type: 'web_search' as const }] }
    return isStreamed
      ? await openai().responses.stream(params).finalResponse()
      : await openai().responses.create(params)
  }
  const asked: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }]
  const { output } = await ask(asked)
  expect(output.map(({ type }) => type)).toEqual(['web_search_call', 'message'])
  expect(output[0]).toMatchObject({
    status: 'completed',
    action: { type: 'search', queries: [question], sources: [{ type: 'url', url: searchPage.url }] },
  })
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const cited = parts.find((part) => part.type === 'output_text' && part.annotations.length > 0)
  expect(cited).toMatchObject({
    annotations: [
      {
        type: 'url_citation',
        ...searchPage,
        start_index: 0,
        end_index: cited?.type === 'output_text' ? cited.text.length : -1,
      },
    ],
  })

  const again = await ask([
    ...asked,
    ...(output as OpenAI.Responses.ResponseInputItem[]),
    { role: 'user', content: 'Thanks.' },
  ])
  expect(again.output.map(({ type }) => type)).toEqual(['message'])
})

test('a Messages client gives its own vendor the search back unchanged', async () => {
  const first: Anthropic.MessageParam = { role: 'user', content: question }
  const tools: Anthropic.ToolUnion[] = [{ type: 'web_search_20250305', name: 'web_search' }]
  const { content, usage } = await anthropic().messages.create({
    model,
    max_tokens: 500,
    messages: [first],
    tools,
  })
  expect(JSON.stringify(content)).toContain(citedText)
  expect(usage.server_tool_use?.web_search_requests).toBe(1)
  const messages: Anthropic.MessageParam[] = [
    first,
    { role: 'assistant', content },
    { role: 'user', content: 'Thanks.' },
  ]
  const { stop_reason } = await anthropic().messages.create({ model, max_tokens: 500, messages, tools })
  expect(stop_reason).toBe('end_turn')
})

test('a Messages client may send the vendor a search of another vendor: the gateway takes it out', async () => {
  const events = upstreamSide('openai-responses').decodeResponse(
    JSON.parse(JSON.stringify(responsesAnswer)),
    {
      upstreamModel: 'up',
    },
  )
  const { content } = clientSide('anthropic-messages').encodeResponse(events, {
    requestId: 'req_1',
    model,
    createdAtSeconds: 1,
    body: {},
    inputTokensEstimate: 1,
    envelope: makeEnvelope(Buffer.alloc(32, 7)),
  }) as unknown as Anthropic.Message
  expect(content.map(({ type }) => type)).toContain('web_search_tool_result')
  const { data, response } = await anthropic()
    .messages.create({
      model,
      max_tokens: 500,
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content },
        { role: 'user', content: 'Thanks.' },
      ],
    })
    .withResponse()
  expect(data.stop_reason).toBe('end_turn')
  const row = await bed.row(response.headers.get('x-request-id') ?? '')
  expect(JSON.parse(String(row.notes))).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: 'messages[1].content[0]', action: 'dropped' }),
      expect.objectContaining({ path: 'messages[1].content[1]', action: 'dropped' }),
      expect.objectContaining({ path: 'messages[1].content[3].citations[0]', action: 'dropped' }),
      expect.objectContaining({ path: 'messages[1].content[4].citations[0]', action: 'dropped' }),
    ]),
  )
})

function yaml(origin: string): string {
  return `
models:
  - { id: ${model}, context_length: 100000, max_output_tokens: 16384 }
channels:
  - { name: claude, protocols: { anthropic-messages: ${origin} }, api_keys: [demo-credential-0001], models: { ${model}: demo-claude }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
