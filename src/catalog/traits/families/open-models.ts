import type { Family } from '../family.ts'

const read = '2026-11-22'
const openModels = 'https://github.com/anomalyco/models.dev/tree/dev/models'
const reasoningMaps = 'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgroq@4.0.73'

/**
 * Open-weight models, wherever they are served. Servers differ in how they run them, so little applies to all
 * of them.
 */
export const openModelFamilies: readonly Family[] = [
  {
    models: /^(?:openai\.)?gpt-oss/,
    traits: { input: ['text'], output: ['text'], tools: true, contextLength: 131_072 },
    examples: ['gpt-oss-120b', 'gpt-oss:20b', 'openai.gpt-oss-20b-1:0'],
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/models/openai/gpt-oss-120b.toml'],
    read,
  },
  {
    models: /^(?:openai\.)?gpt-oss/,
    protocols: ['openai-chat', 'openai-responses'],
    traits: {
      thinking: 'effort',
      thinkingOff: false,
      effortLevels: ['low', 'medium', 'high'],
      effortDefault: 'medium',
    },
    examples: ['gpt-oss-120b'],
    sources: [reasoningMaps, 'https://huggingface.co/openai/gpt-oss-120b'],
    read,
  },
  {
    models: /^(?:meta-)?llama-?[34]/,
    traits: { output: ['text'] },
    examples: ['llama-3.3-70b-versatile', 'meta-llama-3.1-70b-instruct', 'llama3.2:3b'],
    sources: [openModels],
    read,
  },
  {
    models: /^(?:meta-)?llama-?3(?!.*vision)/,
    protocols: ['openai-chat'],
    traits: { thinking: 'none' },
    examples: ['llama-3.3-70b-versatile', 'llama3.1:8b'],
    sources: [openModels],
    read,
  },
]
