import OpenAI from 'openai'
import { startTestbed, type Testbed } from './testbed.ts'
import { startVendor, type Vendor } from './vendor/vendor.ts'

/** A gateway before the strict vendor in each upstream format, with one model for each, named after the format. */
export interface FourUpstreams extends Testbed {
  vendor: Vendor
  /** Default key: `keepingKey`. */
  openai(key?: string): OpenAI
}

export const upstreamModels = ['openai-chat', 'anthropic-messages', 'gemini', 'openai-responses'] as const
/** Those whose answers a Responses client gets translated: their channels keep nothing. */
export const translatedModels = ['openai-chat', 'anthropic-messages', 'gemini'] as const

/** Keys of tenant `a`: its group keeps answers for 30 days. `ownKey` sees only what it got itself. */
export const keepingKey = 'keeping-key-for-tests-a'
export const ownKey = 'own-key-of-tenant-a-001'
/** A key of tenant `a` for which nothing is kept. */
export const forgettingKey = 'forgetting-key-of-a-001'
/** A key of tenant `b`, in the same group as `keepingKey`. */
export const otherKey = 'keeping-key-for-tests-b'
/** A key of tenant `limited`, which has one dollar, in the same group. */
export const limitedKey = 'keeping-key-of-limited1'

export async function startFourUpstreams(
  options: { env?: Record<string, string>; extra?: string; groups?: string } = {},
): Promise<FourUpstreams> {
  const vendor = await startVendor({ tokenDelayMs: 0 })
  const bed = await startTestbed({
    yaml: () => fourUpstreamsYaml(vendor.url, options.extra, options.groups),
    ...(options.env === undefined ? {} : { env: options.env }),
  })
  return {
    ...bed,
    vendor,
    openai: (apiKey = keepingKey) => new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey, maxRetries: 0 }),
    async close() {
      await bed.close()
      await vendor.close()
    },
  }
}

const names = {
  'openai-chat': 'mistral-small-latest',
  'anthropic-messages': 'claude-haiku-4-5',
  gemini: 'gemini-2.5-flash',
  'openai-responses': 'gpt-5',
} as const
const vendors = {
  'openai-chat': 'mistral',
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
  'openai-responses': 'openai',
} as const

/** `extra`: more tenants. `groups`: more groups. */
export function fourUpstreamsYaml(vendorUrl: string, extra = '', groups = ''): string {
  const bases = {
    'openai-chat': `${vendorUrl}/v1`,
    'anthropic-messages': vendorUrl,
    gemini: `${vendorUrl}/v1beta`,
    'openai-responses': `${vendorUrl}/v1`,
  }
  return `
models:
${upstreamModels.map((model) => `  - { id: ${model}, context_length: 1000000, max_output_tokens: 4096, price: { input: "1", output: "2" } }`).join('\n')}
channels:
${upstreamModels
  .map(
    (model) =>
      `  - { name: ${model}, vendor: ${vendors[model]}, protocols: { ${model}: ${bases[model]} }, api_keys: [demo-credential-0001], models: { ${model}: ${names[model]} }, allow_private_address: true, shared_state: allow }`,
  )
  .join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: keeping, models: ['*'], channels: ['*'], responses: { store: true, days: 30 } }
${groups}
tenants:
  - name: a
    keys:
      - { name: keeping, group: keeping, secret: ${keepingKey} }
      - { name: own, group: keeping, secret: ${ownKey}, usage_scope: key }
      - { name: forgetting, group: keeping, secret: ${forgettingKey}, responses: { store: false } }
  - name: b
    keys:
      - { name: keeping, group: keeping, secret: ${otherKey} }
  - name: limited
    balance_usd: "1.00"
    keys:
      - { name: keeping, group: keeping, secret: ${limitedKey} }
${extra}`
}
