import type { Family } from '../family.ts'

const read = '2026-11-22'
const modelsDev = 'https://github.com/anomalyco/models.dev/tree/dev/models/mistral'
const create = 'https://www.npmjs.com/package/@mistralai/mistralai/v/2.7.0'
const reasoning = 'https://github.com/vercel/ai/blob/main/packages/mistral/src/mistral-chat-language-model.ts'

const names =
  'mistral-|ministral-|magistral-|codestral|devstral|pixtral-|voxtral-|open-mi[sx]tral|labs-devstral'

/**
 * Mistral's models, at Mistral and elsewhere. Parts of the format that Mistral's own API refuses are listed
 * in `vendors.ts`.
 */
export const mistralFamilies: readonly Family[] = [
  {
    models: new RegExp(`^(?:${names})`),
    protocols: ['openai-chat'],
    traits: { outputBound: 'max_tokens', temperatureMax: 1.5, developerRole: false, callIds: 'nine' },
    examples: ['mistral-large-latest', 'codestral-2508', 'labs-devstral-small-2512', 'open-mixtral-8x22b'],
    sources: [
      'https://github.com/editor-code-assistant/eca/issues/231',
      create,
      'https://github.com/anomalyco/opencode/issues/1680',
      'https://github.com/vllm-project/vllm/pull/12332',
    ],
    read,
  },
  {
    models: new RegExp(`^(?:${names})`),
    traits: {
      output: ['text'],
      tools: true,
      parallelTools: true,
      forcedTools: true,
      jsonMode: true,
    },
    examples: ['mistral-small-2603', 'ministral-8b-2512'],
    sources: [create, modelsDev],
    read,
  },
  {
    models:
      /^(?:mistral-(?:large|medium|small)-(?:latest|25(?:0[3-9]|1\d)|26\d\d|[34])|mistral-medium-3|ministral-.*2512|pixtral-)/,
    traits: { input: ['text', 'image'] },
    examples: ['mistral-large-2512', 'mistral-medium-2508', 'mistral-small-2603', 'pixtral-large-latest'],
    sources: [modelsDev],
    read,
  },
  {
    models: /^mistral-large-(?:2512|latest)/,
    traits: { contextLength: 262_144 },
    examples: ['mistral-large-2512'],
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/models/mistral/mistral-large-2512.toml'],
    read,
  },
  {
    models: /^mistral-(?:small-(?:latest|2603)|medium-(?:3|latest|2604)|large-4)/,
    protocols: ['openai-chat'],
    traits: { thinking: 'effort', effortLevels: ['none', 'high'], effortDefault: 'none' },
    examples: ['mistral-small-latest', 'mistral-medium-3.5', 'mistral-large-4-0'],
    sources: [
      reasoning,
      'https://github.com/vercel/ai/blob/main/packages/mistral/src/mistral-large-4-reasoning.test.ts',
    ],
    read,
  },
  {
    models:
      /^(?:codestral|devstral|ministral-|pixtral-|open-mi[sx]tral|mistral-(?:large-(?:2[45]\d\d|latest)|medium-25\d\d|small-25\d\d))/,
    protocols: ['openai-chat'],
    traits: { thinking: 'none' },
    examples: ['codestral-latest', 'devstral-2512', 'mistral-large-2512', 'mistral-small-2506'],
    sources: [reasoning],
    read,
  },
]
