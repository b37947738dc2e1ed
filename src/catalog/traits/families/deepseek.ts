import type { Family } from '../family.ts'

const read = '2026-11-22'
const thinking = 'https://api-docs.deepseek.com/guides/thinking_mode'
const create = 'https://api-docs.deepseek.com/api/create-chat-completion'

/**
 * DeepSeek's models, at DeepSeek and elsewhere. Parts of the format that DeepSeek's own API refuses are
 * listed in `vendors.ts`.
 */
export const deepseekFamilies: readonly Family[] = [
  {
    models: /^deepseek-/,
    traits: { output: ['text'], tools: true, jsonMode: true, caching: 'automatic' },
    examples: ['deepseek-chat', 'deepseek-v4-pro'],
    sources: [create],
    read,
  },
  {
    models: /^deepseek-/,
    protocols: ['openai-chat'],
    traits: { outputBound: 'max_tokens' },
    examples: ['deepseek-chat', 'deepseek-v3.2'],
    sources: ['https://github.com/earendil-works/pi/issues/8018', create],
    read,
  },
  {
    models: /^deepseek-v4-(?:pro|flash)(?!.*vision)/,
    traits: { input: ['text'], contextLength: 1_000_000, maxOutputTokens: 384_000 },
    examples: ['deepseek-v4-pro', 'deepseek-v4-flash'],
    sources: ['https://github.com/anomalyco/models.dev/blob/dev/models/deepseek/deepseek-v4-pro.toml'],
    read,
  },
  {
    models: /^deepseek-(?:v4|flash$|pro$|chat$|reasoner$)/,
    vendors: ['deepseek'],
    traits: {
      thinkingOff: true,
      thinkingDefault: true,
      effortDefault: 'high',
      forcedToolsWhileThinking: false,
    },
    examples: ['deepseek-v4-flash', 'deepseek-v4-pro'],
    sources: [
      thinking,
      'https://github.com/deepseek-ai/DeepSeek-V3/issues/1376',
      'https://github.com/BerriAI/litellm/issues/37470',
    ],
    read: '2026-11-28',
  },
  {
    models: /^deepseek-(?:v4|flash$|pro$|chat$|reasoner$)/,
    vendors: ['deepseek'],
    protocols: ['openai-chat'],
    traits: {
      thinking: 'effort',
      thinkingSwitch: 'thinking',
      effortLevels: ['low', 'high', 'max'],
      samplingWhileThinking: false,
      thoughtsInHistory: 'required',
      takes: { frequencyPenalty: false, presencePenalty: false },
    },
    examples: ['deepseek-v4-flash', 'deepseek-v4.1-flash', 'deepseek-flash'],
    sources: [
      thinking,
      'https://github.com/vercel/ai/blob/main/packages/deepseek/src/chat/deepseek-sampling-warnings.reproduction.test.ts',
      'https://github.com/esengine/DeepSeek-Reasonix/issues/10210',
    ],
    read,
  },
  {
    models: /^deepseek-(?:v4|flash$|pro$|chat$|reasoner$)/,
    vendors: ['deepseek'],
    protocols: ['openai-responses'],
    traits: { thinking: 'effort', effortLevels: ['none', 'low', 'high', 'max'] },
    examples: ['deepseek-v4-pro'],
    sources: [thinking],
    read,
  },
  {
    models: /^deepseek-(?:v4|flash$|pro$|chat$|reasoner$)/,
    vendors: ['deepseek'],
    protocols: ['anthropic-messages'],
    traits: { thinking: 'adaptive', effortLevels: ['low', 'high', 'max'] },
    examples: ['deepseek-v4-pro'],
    sources: [thinking],
    read,
  },
]
