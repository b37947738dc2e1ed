import type { Vendor } from '../vendor.ts'

const read = '2026-11-22'
const piCompat = 'https://github.com/earendil-works/pi/blob/main/packages/ai/src/api/openai-completions.ts'

/**
 * Servers that operators run themselves. They render a conversation with the model's chat template, and many
 * templates accept only one system message, at the start: https://github.com/vllm-project/vllm/issues/41114,
 * https://github.com/ggml-org/llama.cpp/issues/20733, https://github.com/can1357/oh-my-pi/issues/958, read
 * 2026-11-28.
 */
export const ownServers = {
  litellm: {
    title: 'LiteLLM proxy',
    baseUrls: {},
    where: {
      'openai-chat': 'http://your-server:4000/v1',
      'openai-responses': 'http://your-server:4000/v1',
      'anthropic-messages': 'http://your-server:4000',
    },
    traits: { 'openai-chat': { caching: 'marks' } },
    sources: [
      'https://docs.litellm.ai/docs/anthropic_unified/native_passthrough',
      'https://docs.litellm.ai/docs/completion/prompt_caching',
    ],
    read,
  },
  vllm: {
    title: 'vLLM',
    baseUrls: {},
    where: {
      'openai-chat': 'http://your-server:8000/v1',
      'openai-responses': 'http://your-server:8000/v1',
      'anthropic-messages': 'http://your-server:8000',
    },
    traits: { 'openai-chat': { customTools: false, severalInstructions: false } },
    sources: ['https://www.developersdigest.tech/reference/api-compatibility/vllm', piCompat],
    read,
  },
  ollama: {
    title: 'Ollama',
    baseUrls: {},
    where: {
      'openai-chat': 'http://your-server:11434/v1',
      'openai-responses': 'http://your-server:11434/v1',
      'anthropic-messages': 'http://your-server:11434',
    },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        choicesMax: 1,
        customTools: false,
        severalInstructions: false,
        takes: {
          topK: false,
          logitBias: false,
          userId: false,
          store: false,
          metadata: false,
          serviceTier: false,
          parallelToolCalls: false,
        },
      },
    },
    sources: [
      'https://docs.ollama.com/api/openai-compatibility',
      'https://docs.ollama.com/api/anthropic-compatibility.md',
      'https://www.developersdigest.tech/reference/api-compatibility/ollama',
      piCompat,
    ],
    read,
  },
  lmstudio: {
    title: 'LM Studio',
    baseUrls: {},
    where: {
      'openai-chat': 'http://your-server:1234/v1',
      'openai-responses': 'http://your-server:1234/v1',
      'anthropic-messages': 'http://your-server:1234',
    },
    traits: { 'openai-chat': { customTools: false, severalInstructions: false } },
    sources: ['https://www.developersdigest.tech/reference/api-compatibility/lmstudio', piCompat],
    read,
  },
  llamacpp: {
    title: 'llama.cpp server',
    baseUrls: {},
    where: {
      'openai-chat': 'http://your-server:8080/v1',
      'anthropic-messages': 'http://your-server:8080',
    },
    traits: { 'openai-chat': { customTools: false, severalInstructions: false } },
    sources: ['https://github.com/ggml-org/llama.cpp/pull/17570', piCompat],
    read,
  },
} as const satisfies Record<string, Vendor>
