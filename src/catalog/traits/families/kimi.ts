import type { Family } from '../family.ts'

const read = '2026-11-22'
const walked = '2026-11-28'
const thinking = 'https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model'
const forced = 'https://github.com/can1357/oh-my-pi/issues/1077'
const forcedToo = 'https://github.com/UKGovernmentBEIS/inspect_ai/issues/5152'

/**
 * Moonshot's Kimi. Parts of the format that Moonshot's own API refuses are listed in `vendors.ts`. Other
 * servers of these models differ.
 */
export const kimiFamilies: readonly Family[] = [
  {
    models: /^kimi-/,
    traits: { output: ['text'], tools: true },
    examples: ['kimi-k2.6', 'kimi-k3', 'kimi-k2-0905-preview'],
    sources: [thinking, 'https://github.com/anomalyco/models.dev/tree/dev/models/moonshotai'],
    read: walked,
  },
  {
    models: /^kimi-(?:k2\.\d|k2-thinking|k[3-9])/,
    vendors: ['moonshot'],
    traits: {
      takes: { temperature: false, topP: false, frequencyPenalty: false, presencePenalty: false },
    },
    examples: ['kimi-k2.5', 'kimi-k2.6', 'kimi-k2-thinking', 'kimi-k3'],
    sources: [
      'https://github.com/anomalyco/opencode/issues/10811',
      'https://github.com/NousResearch/hermes-agent/issues/12435',
      'https://github.com/iOfficeAI/gemini-cli-pro/pull/30',
    ],
    read,
  },
  {
    models: /^kimi-k2\.[56]/,
    vendors: ['moonshot'],
    protocols: ['openai-chat'],
    traits: { thinking: 'switch', thinkingSwitch: 'thinking', thinkingOff: true },
    examples: ['kimi-k2.5', 'kimi-k2.6'],
    sources: [thinking, 'https://github.com/theopenco/llmgateway/issues/3061'],
    read: walked,
  },
  {
    models: /^kimi-k2\.[56]/,
    vendors: ['moonshot'],
    traits: { thinkingDefault: true, forcedToolsWhileThinking: false },
    examples: ['kimi-k2.5', 'kimi-k2.6'],
    sources: [forced, forcedToo],
    read: walked,
  },
  {
    models: /^kimi-k2(?:\.[7-9]|-thinking)/,
    vendors: ['moonshot'],
    traits: {
      thinkingOff: false,
      thinkingDefault: true,
      forcedTools: false,
      forcedToolsWhileThinking: false,
    },
    examples: ['kimi-k2.7-code', 'kimi-k2-thinking', 'kimi-k2-thinking-turbo'],
    sources: [thinking, forced, forcedToo],
    read: walked,
  },
  {
    models: /^kimi-k2(?:\.[7-9]|-thinking)/,
    vendors: ['moonshot'],
    protocols: ['openai-chat'],
    traits: { thinking: 'none' },
    examples: ['kimi-k2.7-code', 'kimi-k2-thinking'],
    sources: [thinking],
    read: walked,
  },
  {
    models: /^kimi-(?:k2\.\d|k2-thinking|k[3-9])/,
    vendors: ['moonshot'],
    protocols: ['openai-chat'],
    traits: { thoughtsInHistory: 'text' },
    examples: ['kimi-k2.5', 'kimi-k2.6', 'kimi-k2-thinking', 'kimi-k3'],
    sources: [
      'https://github.com/danny-avila/LibreChat/issues/11563',
      'https://github.com/continuedev/continue/issues/11600',
      'https://github.com/spacedriveapp/spacebot/pull/364',
    ],
    read: walked,
  },
  {
    models: /^kimi-k3/,
    protocols: ['openai-chat'],
    traits: {
      forcedTools: true,
      forcedToolsWhileThinking: true,
      thinkingDefault: true,
      thinking: 'effort',
      thinkingOff: false,
      effortLevels: ['low', 'high', 'max'],
      effortDefault: 'max',
    },
    examples: ['kimi-k3'],
    sources: [
      'https://github.com/mnfst/modelparams.dev/blob/main/models/moonshot/kimi-k3.yaml',
      'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgroq@4.0.73',
      forcedToo,
    ],
    read,
  },
]
