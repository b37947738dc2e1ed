import type { Vendor } from '../vendor.ts'

const read = '2026-11-22'
/** How a widely used client handles vendors that support Chat Completions. */
const piCompat = 'https://github.com/earendil-works/pi/blob/main/packages/ai/src/api/openai-completions.ts'

/** Companies that serve their own models. */
export const makers = {
  openai: {
    title: 'OpenAI',
    baseUrls: {
      'openai-chat': 'https://api.openai.com/v1',
      'openai-responses': 'https://api.openai.com/v1',
      'openai-images': 'https://api.openai.com/v1',
    },
    traits: {
      'openai-chat': { developerRole: true, outputBound: 'max_completion_tokens', takes: { topK: false } },
      'openai-responses': { developerRole: true },
    },
    sources: [
      'https://developers.openai.com/api/reference/overview',
      'https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create',
    ],
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
        // Answers 422 to each member that is not in its schema. Its seed is called `random_seed`.
        takes: {
          seed: false,
          topK: false,
          logitBias: false,
          logprobs: false,
          verbosity: false,
          store: false,
          userId: false,
          streamOptions: false,
          cacheKey: true,
        },
        userAfterToolResults: false,
        callIds: 'nine',
        thoughtsInHistory: 'refused',
      },
    },
    sources: [
      'https://www.npmjs.com/package/@mistralai/mistralai/v/2.7.0',
      'https://github.com/editor-code-assistant/eca/issues/231',
      'https://github.com/mistralai/platform-docs-public/issues/7',
      'https://github.com/avante-corp/avante.nvim/issues/2347',
      'https://github.com/agno-agi/agno/issues/2285',
      'https://github.com/NousResearch/hermes-agent/issues/20154',
      'https://github.com/charmbracelet/crush/issues/1590',
      'https://github.com/nearai/ironclaw/issues/1241',
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
        developerRole: false,
        customTools: false,
        schema: 'none',
        jsonMode: true,
        takes: { seed: false, topK: false, store: false },
      },
    },
    sources: [
      'https://api-docs.deepseek.com/api/create-chat-completion',
      'https://api-docs.deepseek.com/api/create-response',
      'https://api-docs.deepseek.com/guides/anthropic_api',
      'https://github.com/llm-exe/llm-exe/issues/662',
      piCompat,
    ],
    read,
  },
  qwen: {
    title: 'Qwen (Alibaba Cloud Model Studio)',
    baseUrls: {
      'openai-chat': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      'openai-responses': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
      'anthropic-messages': 'https://dashscope-intl.aliyuncs.com/apps/anthropic',
    },
    traits: {
      'openai-chat': { caching: 'marks' },
      'openai-responses': {
        thinking: 'effort',
        effortLevels: ['none', 'minimal', 'low', 'medium', 'high'],
        effortDefault: 'medium',
      },
      'anthropic-messages': { thinking: 'budget', thinkingOff: true },
    },
    sources: [
      'https://github.com/anomalyco/models.dev/blob/dev/providers/alibaba/provider.toml',
      'https://www.alibabacloud.com/help/en/model-studio/compatibility-with-openai-responses-api',
      'https://www.alibabacloud.com/help/en/model-studio/anthropic-api-messages',
      'https://www.alibabacloud.com/help/en/model-studio/context-cache',
    ],
    read,
  },
  xai: {
    title: 'xAI',
    baseUrls: { 'openai-chat': 'https://api.x.ai/v1', 'openai-responses': 'https://api.x.ai/v1' },
    traits: {
      'openai-chat': { developerRole: false, customTools: false, takes: { store: false, topK: false } },
    },
    sources: [
      'https://docs.x.ai/developers/model-capabilities/text/best-practices.md',
      'https://github.com/vercel/ai/blob/main/packages/xai/src/xai-chat-language-model.ts',
      piCompat,
    ],
    read,
  },
  moonshot: {
    title: 'Moonshot AI (Kimi)',
    baseUrls: {
      'openai-chat': 'https://api.moonshot.ai/v1',
      'openai-responses': 'https://api.moonshot.ai/v1',
      'anthropic-messages': 'https://api.moonshot.ai/anthropic',
    },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        developerRole: false,
        customTools: false,
        strictTools: false,
        stopMax: 5,
        takes: { store: false, cacheKey: true },
      },
    },
    sources: [
      'https://www.developersdigest.tech/reference/api-compatibility/moonshot',
      'https://github.com/mnfst/modelparams.dev/blob/main/models/moonshot/kimi-k3.yaml',
      piCompat,
    ],
    read,
  },
  zai: {
    title: 'Z.AI',
    baseUrls: { 'openai-chat': 'https://api.z.ai/api/paas/v4' },
    traits: {
      'openai-chat': {
        outputBound: 'max_tokens',
        developerRole: false,
        customTools: false,
        takes: { store: false },
      },
    },
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/providers/zai/provider.toml', piCompat],
    read,
  },
  minimax: {
    title: 'MiniMax',
    baseUrls: { 'anthropic-messages': 'https://api.minimax.io/anthropic' },
    traits: { 'anthropic-messages': { caching: 'marks' } },
    sources: [
      'https://github.com/anomalyco/models.dev/blob/dev/providers/minimax/provider.toml',
      'https://platform.minimax.io/docs/api-reference/anthropic-api-compatible-cache',
    ],
    read,
  },
  cohere: {
    title: 'Cohere',
    baseUrls: { 'openai-chat': 'https://api.cohere.ai/compatibility/v1' },
    traits: { 'openai-chat': { customTools: false } },
    sources: ['https://docs.cohere.com/docs/compatibility-api', piCompat],
    read,
  },
} as const satisfies Record<string, Vendor>
