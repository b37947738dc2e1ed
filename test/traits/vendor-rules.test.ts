import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import type { VendorName } from '../../src/catalog/traits/vendors.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'
import { askedRequests } from './asked-requests.ts'

/**
 * What `POST /v1/translate` would send to 20 models of five vendors, for the same request in three client formats: the strict
 * vendor takes all of it. The fixture shows what is sent, and what was noted; `vitest -u` writes it again.
 */

const models: readonly { model: string; vendor: VendorName; to: ProtocolName }[] = [
  ...[
    'claude-haiku-4-5',
    'claude-sonnet-4-6',
    'claude-opus-4-8',
    'claude-fable-5-2',
    'claude-sonnet-5-5',
    'claude-opus-5-5',
  ].map((model) => ({ model, vendor: 'anthropic' as const, to: 'anthropic-messages' as const })),
  ...['gpt-4.1', 'o4-mini', 'gpt-5.4', 'gpt-5.6-sol'].map((model) => ({
    model,
    vendor: 'openai' as const,
    to: 'openai-chat' as const,
  })),
  ...['gpt-5', 'gpt-6-sol'].map((model) => ({
    model,
    vendor: 'openai' as const,
    to: 'openai-responses' as const,
  })),
  ...['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3.1-pro-preview', 'gemini-3.8-flash'].map((model) => ({
    model,
    vendor: 'gemini' as const,
    to: 'gemini' as const,
  })),
  ...['mistral-large-latest', 'mistral-small-latest'].map((model) => ({
    model,
    vendor: 'mistral' as const,
    to: 'openai-chat' as const,
  })),
  ...['deepseek-v4-pro', 'deepseek-v4-flash'].map((model) => ({
    model,
    vendor: 'deepseek' as const,
    to: 'openai-chat' as const,
  })),
]
const clients = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const
const requests = [
  'temperature',
  'effort',
  'no effort',
  'schema',
  'prefill',
  'tools and JSON',
  'forced call',
] as const

let bed: Testbed
let vendor: Vendor

beforeAll(async () => {
  ;[bed, vendor] = await Promise.all([startTestbed(), startVendor({ tokenDelayMs: 0 })])
})
afterAll(() => Promise.all([bed.close(), vendor.close()]))

test('there are 20 models', () => {
  expect(new Set(models.map(({ model }) => model)).size).toBe(20)
})

describe.each(models)('$model ($to)', ({ model, vendor: name, to }) => {
  test('takes what is sent to it', async () => {
    const refusals: string[] = []
    const paragraphs: string[] = []
    for (const which of requests) {
      const lines: string[] = []
      for (const from of clients) {
        // No one translates a format into itself.
        if (from === to) continue
        const sent = await translate({ from, to, model, vendor: name, request: askedRequests[from][which] })
        lines.push(`  from ${from}`, ...linesOf(sent))
        if (!isSent(sent)) continue
        const answer = await send(sent)
        if (answer !== undefined) refusals.push(`${which} from ${from}: ${answer}`)
      }
      paragraphs.push([which, ...lines].join('\n'))
    }
    expect(refusals).toEqual([])
    await expect(`${paragraphs.join('\n\n')}\n`).toMatchFileSnapshot(`../fixtures/traits/sent/${model}.txt`)
  })
})

interface Sent {
  path: string
  body: Json
  notes: readonly Json[]
}

/** What would be sent, or the words of a refusal. */
async function translate(asked: {
  from: string
  to: string
  model: string
  vendor: string
  request: Json
}): Promise<Sent | string> {
  const response = await fetch(`${bed.tollgate.url}/v1/translate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, request: { ...asked.request, model: asked.model } }),
  })
  const answer: unknown = await response.json()
  if (!isRecord(answer)) throw new Error('no answer')
  if (!response.ok) {
    expect(response.status).toBe(400)
    return isRecord(answer.error) ? String(answer.error.message) : JSON.stringify(answer)
  }
  return {
    path: String(answer.path),
    body: isRecord(answer.body) ? answer.body : {},
    notes: recordsOf(answer.notes),
  }
}

function isSent(sent: Sent | string): sent is Sent {
  return typeof sent !== 'string'
}

/** The words with which the strict vendor refuses it; undefined: it takes it. */
async function send({ path, body }: Sent): Promise<string | undefined> {
  const base = path.startsWith('/models/') ? '/v1beta' : path.startsWith('/v1/') ? '' : '/v1'
  const response = await fetch(`${vendor.url}${base}${path}`, {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return response.ok ? undefined : `${response.status} ${text}`
}

/** What is sent without the conversation, and what was noted. */
function linesOf(sent: Sent | string): string[] {
  if (!isSent(sent)) return [`    refused: ${sent}`]
  const { model: _, ...members } = sent.body
  return [
    ...Object.entries(members).map(([name, value]) => `    ${name}: ${shown(name, value)}`),
    ...sent.notes.map(({ action, path, reason }) => `    note: ${action} ${path}: ${reason}`),
  ]
}

function shown(name: string, value: unknown): string {
  if (name === 'messages' || name === 'input' || name === 'contents') {
    return recordsOf(value)
      .map(({ role, type, parts, content }) => {
        const kinds = recordsOf(parts ?? content).map((part) => part.type ?? Object.keys(part).join('+'))
        return kinds.length > 0 ? `${role ?? type}[${kinds.join(' ')}]` : String(role ?? type)
      })
      .join(', ')
  }
  if (name === 'tools') return JSON.stringify(value).length > 200 ? 'get_weather' : JSON.stringify(value)
  return JSON.stringify(value)
}
