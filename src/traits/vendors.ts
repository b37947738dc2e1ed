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
    traits: { 'anthropic-messages': { fetchesUrls: true } },
    sources: [
      'https://platform.claude.com/docs/en/api/overview',
      'https://platform.claude.com/docs/en/build-with-claude/vision',
    ],
    read,
  },
  gemini: {
    title: 'Google Gemini',
    baseUrls: { gemini: 'https://generativelanguage.googleapis.com/v1beta' },
    traits: {},
    sources: ['https://ai.google.dev/api'],
    read,
  },
  mistral: {
    title: 'Mistral',
    baseUrls: { 'openai-chat': 'https://api.mistral.ai/v1' },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        developerRole: false,
        customTools: false,
        prefill: false,
        temperatureMax: 1.5,
        // It answers 422 to each member that its schema does not name. Its seed is called `random_seed`.
        takes: {
          seed: false,
          topK: false,
          logitBias: false,
          logprobs: false,
          verbosity: false,
          store: false,
          userId: false,
          streamOptions: false,
        },
        userAfterToolResults: false,
      },
    },
    sources: [
      'https://docs.mistral.ai/api/endpoint/chat',
      'https://www.npmjs.com/package/@mistralai/mistralai/v/2.7.0',
      'https://github.com/editor-code-assistant/eca/issues/231',
      'https://github.com/mistralai/platform-docs-public/issues/7',
      'https://github.com/avante-corp/avante.nvim/issues/2347',
      'https://github.com/agno-agi/agno/issues/2285',
      'https://github.com/NousResearch/hermes-agent/issues/20154',
    ],
    read,
  },
  deepseek: {
    title: 'DeepSeek',
    baseUrls: {
      'openai-chat': 'https://api.deepseek.com',
      'openai-responses': 'https://api.deepseek.com',
      'anthropic-messages': 'https://api.deepseek.com/anthropic',
    },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        schema: 'none',
        jsonMode: true,
        takes: { seed: false, topK: false },
      },
    },
    sources: [
      'https://api-docs.deepseek.com/api/create-chat-completion',
      'https://api-docs.deepseek.com/api/create-response',
      'https://api-docs.deepseek.com/guides/anthropic_api',
      'https://github.com/llm-exe/llm-exe/issues/662',
    ],
    read,
  },
  qwen: { title: 'Qwen (Alibaba Cloud Model Studio)', baseUrls: {}, traits: {}, sources: [], read },
  xai: { title: 'xAI', baseUrls: {}, traits: {}, sources: [], read },
  groq: { title: 'Groq', baseUrls: {}, traits: {}, sources: [], read },
  openrouter: { title: 'OpenRouter', baseUrls: {}, traits: {}, sources: [], read },
  vllm: { title: 'vLLM', baseUrls: {}, traits: {}, sources: [], read },
  ollama: { title: 'Ollama', baseUrls: {}, traits: {}, sources: [], read },
}
