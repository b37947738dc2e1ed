import type { Family } from '../family.ts'

const read = '2026-11-22'
const catalog = 'https://github.com/vercel/ai/blob/main/packages/openai/src/openai-model-catalog.ts'
const modelsDev = 'https://github.com/anomalyco/models.dev/tree/dev/models/openai'
const structured = 'https://developers.openai.com/api/docs/guides/structured-outputs'
const create =
  'https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create'

/** OpenAI's text models, including those served by other vendors: `openai/gpt-5.4`, `openai.gpt-5.4`. */
export const openaiFamilies: readonly Family[] = [
  {
    models: /(?:^|\.)(?:gpt-[3-9]|chatgpt-|o[134](?:-|$)|codex-)/,
    traits: {
      output: ['text'],
      tools: true,
      parallelTools: true,
      forcedTools: true,
      toolsWithFormat: true,
      strictTools: true,
      jsonMode: true,
      caching: 'automatic',
      takes: { cacheKey: true },
      schema: 'openai-strict',
      developerRole: true,
    },
    examples: ['gpt-4o', 'gpt-5.4-2026-03-05', 'o3', 'openai.gpt-5.4', 'codex-mini-latest'],
    sources: [create, structured, catalog, 'https://developers.openai.com/api/docs/guides/prompt-caching'],
    read,
  },
  {
    models: /(?:^|\.)(?:gpt-3|gpt-4(?:-|o|$|\.)|chatgpt-4o)/,
    traits: {
      thinking: 'none',
      stopMax: 4,
    },
    examples: [
      'gpt-3.5-turbo',
      'gpt-4',
      'gpt-4-turbo-2024-04-09',
      'gpt-4o-mini',
      'gpt-4.1',
      'chatgpt-4o-latest',
    ],
    sources: [catalog, create],
    read,
  },
  {
    models: /(?:^|\.)(?:gpt-3|gpt-4(?:-|$)|gpt-4o-2024-05-13|chatgpt-4o)/,
    traits: { schema: 'none', strictTools: false },
    examples: ['gpt-3.5-turbo-0125', 'gpt-4-turbo', 'gpt-4-0613', 'gpt-4o-2024-05-13'],
    sources: [structured],
    read,
  },
  {
    models: /(?:^|\.)gpt-4(?:-0314|-0613|-32k.*)?$/,
    traits: { input: ['text'], jsonMode: false, contextLength: 8192, maxOutputTokens: 8192 },
    examples: ['gpt-4', 'gpt-4-0613'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-3\.5-turbo/,
    traits: { input: ['text'], contextLength: 16_385, maxOutputTokens: 4096 },
    examples: ['gpt-3.5-turbo', 'gpt-3.5-turbo-1106'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-4-(?:turbo|1106|0125)/,
    traits: { contextLength: 128_000, maxOutputTokens: 4096 },
    examples: ['gpt-4-turbo', 'gpt-4-1106-preview'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)(?:gpt-4o|chatgpt-4o)/,
    traits: { input: ['text', 'image', 'document'], contextLength: 128_000, maxOutputTokens: 16_384 },
    examples: ['gpt-4o-2024-11-20', 'gpt-4o-mini', 'chatgpt-4o-latest'],
    sources: [modelsDev, 'https://developers.openai.com/api/docs/guides/pdf-files'],
    read,
  },
  {
    models: /(?:^|\.)gpt-4\.1/,
    traits: { input: ['text', 'image', 'document'], contextLength: 1_047_576, maxOutputTokens: 32_768 },
    examples: ['gpt-4.1', 'gpt-4.1-mini-2025-04-14', 'gpt-4.1-nano'],
    sources: [modelsDev],
    read,
  },
  {
    models: /(?:^|\.)gpt-(?:4o(?:-mini)?-audio|audio)/,
    traits: {
      input: ['text', 'audio'],
      output: ['text', 'audio'],
      schema: 'none',
      protocols: ['openai-chat'],
    },
    examples: ['gpt-4o-audio-preview', 'gpt-4o-mini-audio-preview-2024-12-17', 'gpt-audio-mini'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)gpt-4o(?:-mini)?-search/,
    traits: { takes: { temperature: false }, tools: false, webSearch: true, protocols: ['openai-chat'] },
    examples: ['gpt-4o-search-preview', 'gpt-4o-mini-search-preview-2025-03-11'],
    sources: [catalog],
    read,
  },
]
