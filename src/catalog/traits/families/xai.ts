import type { Family } from '../family.ts'

const read = '2026-11-22'
const modelsDev = 'https://github.com/anomalyco/models.dev/tree/dev/models/xai'
const capabilities = 'https://github.com/vercel/ai/blob/main/packages/xai/src/xai-chat-model-capabilities.ts'
const fixedEffort = 'https://github.com/vercel/ai/blob/main/packages/xai/src/supports-reasoning-effort.ts'
const efforts43 = 'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fxai@4.0.0-canary.61'
const reasoningMaps = 'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgroq@4.0.73'

/** xAI's Grok. */
export const xaiFamilies: readonly Family[] = [
  {
    models: /^(?:xai\.)?grok-/,
    traits: { output: ['text'], tools: true },
    examples: ['grok-4.7', 'xai.grok-4-1-fast-reasoning'],
    sources: [modelsDev],
    read,
  },
  {
    models: /^(?:xai\.)?grok-(?:4|3-mini|code)(?!.*non-reasoning)/,
    traits: { takes: { frequencyPenalty: false, presencePenalty: false }, stopMax: 0 },
    examples: ['grok-4', 'grok-4.7', 'grok-3-mini', 'grok-code-fast-1'],
    sources: [capabilities],
    read,
  },
  {
    models:
      /^(?:xai\.)?grok-(?:3(?!-mini)|4$|4-0709|4-(?:1-)?fast|4\.20(?:-\d{4})?-(?:non-)?reasoning|code-fast)/,
    traits: { thinking: 'none' },
    examples: [
      'grok-4',
      'grok-4-1-fast-reasoning',
      'grok-4.20-0309-reasoning',
      'grok-4.20-non-reasoning',
      'grok-3',
    ],
    sources: [fixedEffort, 'https://github.com/acedergren/opencode-oci-provider/releases/tag/v0.2.3'],
    read,
  },
  {
    models: /^(?:xai\.)?grok-4\.3/,
    traits: {
      input: ['text', 'image', 'document'],
      thinking: 'effort',
      effortLevels: ['none', 'low', 'medium', 'high'],
      contextLength: 1_000_000,
    },
    examples: ['grok-4.3', 'grok-4.3-latest'],
    sources: [efforts43, modelsDev],
    read,
  },
  {
    models: /^(?:xai\.)?grok-4\.[5-9]/,
    traits: {
      input: ['text', 'image'],
      thinking: 'effort',
      thinkingOff: false,
      effortLevels: ['low', 'medium', 'high'],
      contextLength: 500_000,
    },
    examples: ['grok-4.5', 'grok-4.7'],
    sources: [reasoningMaps, modelsDev],
    read,
  },
]
