import type { Family } from '../family.ts'

const read = '2026-11-22'
const openModels = 'https://github.com/anomalyco/models.dev/tree/dev/models'
const reasoningMaps = 'https://newreleases.io/project/github/vercel/ai/release/@ai-sdk%2Fgroq@4.0.73'

/** Models whose weights are open, wherever they are served. What a server makes of them differs: little is true of all. */
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
    models: /^kimi-k3/,
    protocols: ['openai-chat'],
    traits: {
      thinking: 'effort',
      thinkingOff: false,
      effortLevels: ['low', 'high', 'max'],
      effortDefault: 'max',
    },
    examples: ['kimi-k3'],
    sources: [
      'https://github.com/mnfst/modelparams.dev/blob/main/models/moonshot/kimi-k3.yaml',
      reasoningMaps,
    ],
    read,
  },
  {
    models: /^(?:qwen|qwq|qvq)/,
    protocols: ['openai-chat'],
    traits: { severalInstructions: false },
    examples: ['qwen3.6-27b', 'qwen3.5-397b-a17b', 'qwen-plus', 'qwq-32b', 'qvq-72b-preview'],
    sources: [
      'https://huggingface.co/Qwen/Qwen3.5-27B/blob/main/chat_template.jinja',
      'https://github.com/vllm-project/vllm/issues/41114',
      'https://github.com/can1357/oh-my-pi/issues/958',
    ],
    read: '2026-11-28',
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
