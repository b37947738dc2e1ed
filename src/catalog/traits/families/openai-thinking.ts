import type { Family } from '../family.ts'

const read = '2026-11-22'
const catalog = 'https://github.com/vercel/ai/blob/main/packages/openai/src/openai-model-catalog.ts'
const modelsDev = 'https://github.com/anomalyco/models.dev/tree/dev/models/openai'
const reasoning = 'https://developers.openai.com/api/docs/guides/reasoning'
const efforts = 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort'
const stop = 'https://github.com/BerriAI/litellm/blob/main/litellm/llms/openai/chat/gpt_5_transformation.py'
const create =
  'https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create'
const noParallel = 'https://github.com/run-llama/llama_index/issues/20865'
const toolsAndEffort = 'https://github.com/openai/openai-openapi/issues/541'

const vendors = ['openai', 'azure-openai'] as const

/** OpenAI's reasoning models: o-series, GPT-5 and later, Codex. */
export const openaiThinkingFamilies: readonly Family[] = [
  {
    models: /(?:^|\.)(?:o[134](?:-|$)|gpt-[5-9]|codex-)/,
    traits: {
      input: ['text', 'image', 'document'],
      takes: {
        frequencyPenalty: false,
        presencePenalty: false,
        logitBias: false,
      },
      thinking: 'effort',
      stopMax: 0,
    },
    examples: ['o1', 'o4-mini-2025-04-16', 'gpt-5', 'gpt-5.6-sol', 'gpt-6-astra', 'codex-mini-latest'],
    sources: [catalog, create, reasoning, stop],
    read,
  },
  {
    models: /(?:^|\.)(?:o[134](?:-|$)|gpt-[5-9]|codex-)/,
    protocols: ['openai-chat'],
    traits: { outputBound: 'max_completion_tokens' },
    examples: ['o3-mini', 'gpt-5-mini'],
    sources: [create, catalog],
    read,
  },
  {
    models: /(?:^|\.)(?:o[134](?:-|$)|codex-mini)/,
    traits: {
      takes: { temperature: false, topP: false, logprobs: false, parallelToolCalls: false },
      effortLevels: ['low', 'medium', 'high'],
      effortDefault: 'medium',
      thinkingOff: false,
      contextLength: 200_000,
      maxOutputTokens: 100_000,
    },
    examples: ['o1-2024-12-17', 'o3', 'o4-mini', 'codex-mini-latest'],
    sources: [catalog, efforts, noParallel, modelsDev],
    read,
  },
  {
    models: /(?:^|\.)(?:o3-mini|o1-mini)/,
    traits: { input: ['text'] },
    examples: ['o3-mini-2025-01-31', 'o1-mini'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-[5-9]/,
    traits: { contextLength: 400_000, maxOutputTokens: 128_000 },
    examples: ['gpt-5', 'gpt-5.2', 'gpt-5-codex'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-[5-9]/,
    protocols: ['openai-responses', 'openai-chat'],
    traits: { customTools: true },
    examples: ['gpt-5', 'gpt-6-sol'],
    sources: ['https://developers.openai.com/api/docs/guides/function-calling'],
    read,
  },
  {
    models: /(?:^|\.)gpt-5(?!\.\d|-chat)/,
    traits: {
      takes: { temperature: false, topP: false, logprobs: false },
      effortLevels: ['minimal', 'low', 'medium', 'high'],
      effortDefault: 'medium',
      thinkingOff: false,
    },
    examples: ['gpt-5', 'gpt-5-mini-2025-08-07', 'gpt-5-nano'],
    sources: [catalog, efforts],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.[1-9]/,
    traits: { samplingWhileThinking: false },
    examples: ['gpt-5.1', 'gpt-5.6-terra'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.1(?!-chat|-codex)/,
    traits: { effortLevels: ['none', 'low', 'medium', 'high'], effortDefault: 'none' },
    examples: ['gpt-5.1', 'gpt-5.1-2025-11-13'],
    sources: [efforts, 'https://github.com/openai/openai-agents-python/issues/2089'],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.[2-4](?!-chat|-codex|-pro)/,
    traits: { effortLevels: ['none', 'low', 'medium', 'high', 'xhigh'], effortDefault: 'none' },
    examples: ['gpt-5.2-2025-12-11', 'gpt-5.4', 'gpt-5.4-mini'],
    sources: [catalog, efforts, toolsAndEffort],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.5(?!-pro|-instant)/,
    traits: { effortLevels: ['none', 'low', 'medium', 'high', 'xhigh'], effortDefault: 'medium' },
    examples: ['gpt-5.5', 'gpt-5.5-2026-04-23'],
    sources: [catalog, 'https://github.com/jeffdafoe/llm-memory-api/pull/178'],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.[6-9]/,
    traits: { effortLevels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'], effortDefault: 'medium' },
    examples: ['gpt-5.6', 'gpt-5.6-sol', 'gpt-5.6-luna'],
    sources: [catalog, 'https://github.com/BerriAI/litellm/pull/34569'],
    read,
  },
  {
    models: /(?:^|\.)gpt-(?:5\.[6-9]|[6-9])/,
    protocols: ['openai-chat', 'openai-responses'],
    traits: { caching: 'breakpoints' },
    examples: ['gpt-5.6-sol', 'gpt-6-astra'],
    sources: ['https://developers.openai.com/api/docs/guides/prompt-caching'],
    read: '2026-11-28',
  },
  {
    models: /(?:^|\.)gpt-5\.[4-9]/,
    protocols: ['openai-chat'],
    traits: { toolsWhileThinking: false },
    examples: ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-terra'],
    sources: [
      toolsAndEffort,
      'https://github.com/pipecat-ai/pipecat/issues/4043',
      'https://github.com/BerriAI/litellm/pull/34569',
    ],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.(?:4(?!-mini|-nano)|[5-9])/,
    traits: { contextLength: 1_050_000 },
    examples: ['gpt-5.4', 'gpt-5.5', 'gpt-5.6-sol'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-[6-9]/,
    traits: {
      takes: { temperature: false, topP: false, logprobs: false },
      effortLevels: ['low', 'medium', 'high', 'xhigh', 'max'],
      effortDefault: 'medium',
      contextLength: 1_050_000,
      maxOutputTokens: 128_000,
    },
    examples: ['gpt-6-astra', 'gpt-6.1-sol'],
    sources: [
      catalog,
      'https://github.com/mnfst/modelparams.dev/blob/main/models/openai/gpt-6-astra.yaml',
      modelsDev,
    ],
    read,
  },
  {
    models: /(?:^|\.)gpt-6(?:-luna|-sol|\.1-terra)/,
    traits: {
      takes: { temperature: true, topP: true, logprobs: true },
      samplingWhileThinking: false,
      effortLevels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
    },
    examples: ['gpt-6-luna', 'gpt-6-sol', 'gpt-6.1-terra'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)gpt-5(?:\.[1-3])?-codex/,
    traits: { effortLevels: ['low', 'medium', 'high'], effortDefault: 'medium', thinkingOff: false },
    examples: ['gpt-5-codex', 'gpt-5.1-codex', 'gpt-5.1-codex-mini'],
    sources: ['https://github.com/RayBytes/ChatMock/pull/101.patch', efforts],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.(?:1-codex-max|[23]-codex)/,
    traits: { effortLevels: ['low', 'medium', 'high', 'xhigh'] },
    examples: ['gpt-5.1-codex-max', 'gpt-5.2-codex', 'gpt-5.3-codex'],
    sources: ['https://github.com/RayBytes/ChatMock/pull/101.patch', efforts],
    read,
  },
  {
    models: /(?:^|\.)gpt-5-pro/,
    traits: { effortLevels: ['high'], effortDefault: 'high', maxOutputTokens: 272_000 },
    examples: ['gpt-5-pro-2025-10-06'],
    sources: [
      efforts,
      'https://github.com/anomalyco/models.dev/blob/dev/providers/openai/models/gpt-5-pro.toml',
    ],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.[2-5]-pro/,
    traits: { takes: { temperature: false, topP: false, logprobs: false } },
    examples: ['gpt-5.2-pro', 'gpt-5.4-pro-2026-03-05', 'gpt-5.5-pro'],
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/providers/openai/models/gpt-5.2-pro.toml'],
    read,
  },
  {
    models: /(?:^|\.)(?:gpt-5(?:\.\d)?-codex|gpt-5-pro|codex-mini|o[13]-pro|o[34].*-deep-research)/,
    vendors,
    traits: { protocols: ['openai-responses'] },
    examples: ['gpt-5-codex', 'gpt-5.3-codex', 'gpt-5-pro', 'o3-pro-2025-06-10', 'o4-mini-deep-research'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)gpt-5-chat/,
    traits: {
      takes: { frequencyPenalty: true, presencePenalty: true, logitBias: true },
      thinking: 'none',
      tools: false,
      schema: 'none',
      stopMax: 4,
      maxOutputTokens: 16_384,
      contextLength: 128_000,
    },
    examples: ['gpt-5-chat-latest'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)gpt-5\.[1-3]-chat/,
    traits: { contextLength: 128_000, maxOutputTokens: 8192 },
    examples: ['gpt-5.1-chat-latest', 'gpt-5.2-chat-latest', 'gpt-5.3-chat-latest'],
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/models/openai/gpt-5.1-chat.toml'],
    read,
  },
]
