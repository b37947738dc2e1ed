import type { Traits } from '../canonical/traits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** A company or server software behind a channel: `vendor` in gateway.yaml. */
export interface Vendor {
  /** For people. */
  title: string
  /**
   * Base URLs exactly as the vendor's own SDK takes them. Empty: the operator runs it, so only the operator knows where. A
   * channel's own `protocols` have precedence.
   */
  baseUrls: Readonly<Partial<Record<ProtocolName, string>>>
  /** Traits of all its models, by protocol, before those of a family. */
  traits: Readonly<Partial<Record<ProtocolName, Traits>>>
  sources: readonly string[]
  /** The day on which we read them: `2026-11-22`. */
  read: string
}

export const vendorNames = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'deepseek',
  'qwen',
  'xai',
  'groq',
  'openrouter',
  'vllm',
  'ollama',
] as const
export type VendorName = (typeof vendorNames)[number]

const read = '2026-11-22'

export const vendors: Readonly<Record<VendorName, Vendor>> = {
  openai: {
    title: 'OpenAI',
    baseUrls: {
      'openai-chat': 'https://api.openai.com/v1',
      'openai-responses': 'https://api.openai.com/v1',
      'openai-images': 'https://api.openai.com/v1',
    },
    traits: {},
    sources: ['https://platform.openai.com/docs/api-reference/introduction'],
    read,
  },
  anthropic: {
    title: 'Anthropic',
    baseUrls: { 'anthropic-messages': 'https://api.anthropic.com' },
    traits: {},
    sources: ['https://platform.claude.com/docs/en/api/overview'],
    read,
  },
  gemini: {
    title: 'Google Gemini',
    baseUrls: { gemini: 'https://generativelanguage.googleapis.com/v1beta' },
    traits: {},
    sources: ['https://ai.google.dev/api'],
    read,
  },
  mistral: { title: 'Mistral', baseUrls: {}, traits: {}, sources: [], read },
  deepseek: { title: 'DeepSeek', baseUrls: {}, traits: {}, sources: [], read },
  qwen: { title: 'Qwen (Alibaba Cloud Model Studio)', baseUrls: {}, traits: {}, sources: [], read },
  xai: { title: 'xAI', baseUrls: {}, traits: {}, sources: [], read },
  groq: { title: 'Groq', baseUrls: {}, traits: {}, sources: [], read },
  openrouter: { title: 'OpenRouter', baseUrls: {}, traits: {}, sources: [], read },
  vllm: { title: 'vLLM', baseUrls: {}, traits: {}, sources: [], read },
  ollama: { title: 'Ollama', baseUrls: {}, traits: {}, sources: [], read },
}
