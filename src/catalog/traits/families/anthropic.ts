import type { Family } from '../family.ts'

const read = '2026-11-22'
const catalog = 'https://github.com/vercel/ai/blob/main/packages/anthropic/src/anthropic-model-catalog.ts'
const overview = 'https://platform.claude.com/docs/en/models/overview'
const prefill = 'https://github.com/anomalyco/opencode/issues/13768'
const oneSampler = 'https://github.com/SalesforceAIResearch/MCP-Universe/issues/49'
const whatsNew55 = 'https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5'
const adaptive = 'https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html'
const extended = 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking'

/**
 * Claude, under the names used by Anthropic, Bedrock (`anthropic.claude-…-v1:0`), Google Cloud
 * (`claude-…@2025…`) and OpenRouter (`claude-opus-4.8`).
 */
export const anthropicFamilies: readonly Family[] = [
  {
    models: /(?:^|\.)claude-/,
    traits: {
      input: ['text', 'image', 'document'],
      output: ['text'],
      tools: true,
      parallelTools: true,
      forcedTools: true,
      temperatureMax: 1,
      choicesMax: 1,
    },
    examples: ['claude-haiku-4-5-20251001', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    sources: [overview, 'https://platform.claude.com/docs/en/api/messages/create'],
    read,
  },
  {
    models: /(?:^|\.)claude-/,
    protocols: ['anthropic-messages'],
    traits: { forcedToolsWhileThinking: false, caching: 'marks' },
    examples: ['claude-opus-4-1'],
    sources: [extended, 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching'],
    read,
  },
  {
    models: /(?:^|\.)claude-3-(?:opus|sonnet|haiku)/,
    traits: { input: ['text', 'image'], contextLength: 200_000, maxOutputTokens: 4096 },
    examples: [
      'claude-3-haiku-20240307',
      'anthropic.claude-3-sonnet-20240229-v1:0',
      'claude-3-opus@20240229',
    ],
    sources: [catalog, 'https://platform.claude.com/docs/en/build-with-claude/pdf-support'],
    read,
  },
  {
    models: /(?:^|\.)claude-3[.-]5-/,
    traits: { contextLength: 200_000, maxOutputTokens: 8192 },
    examples: ['claude-3-5-haiku-20241022', 'claude-3.5-sonnet'],
    sources: ['https://github.com/anomalyco/models.dev/tree/dev/providers/anthropic/models'],
    read,
  },
  {
    models: /(?:^|\.)claude-3-(?:opus|sonnet|haiku)|(?:^|\.)claude-3[.-]5-/,
    protocols: ['anthropic-messages'],
    traits: { thinking: 'none' },
    examples: ['claude-3-5-sonnet-latest', 'claude-3-opus-20240229'],
    sources: [extended],
    read,
  },
  {
    models: /(?:^|\.)claude-3[.-]7-|(?:^|\.)claude-(?:opus|sonnet)-4(?![.-]?\d(?!\d))/,
    protocols: ['anthropic-messages'],
    traits: { thinking: 'budget', thinkingBudgetMin: 1024, thinkingOff: true },
    examples: ['claude-3-7-sonnet-20250219', 'claude-sonnet-4-20250514', 'claude-opus-4@20250514'],
    sources: [extended],
    read,
  },
  {
    models: /(?:^|\.)claude-3|(?:^|\.)claude-(?:opus|sonnet)-4(?:-0)?(?![.-]?\d(?!\d))/,
    protocols: ['anthropic-messages'],
    traits: { schema: 'none', strictTools: false, laterInstructions: false, prefill: true },
    examples: ['claude-3-7-sonnet-20250219', 'claude-sonnet-4-0', 'claude-opus-4-20250514'],
    sources: [catalog, 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs'],
    read,
  },
  {
    models: /(?:^|\.)claude-3[.-]7-|(?:^|\.)claude-sonnet-4(?:-0)?(?![.-]?\d(?!\d))/,
    traits: { contextLength: 200_000, maxOutputTokens: 64_000 },
    examples: ['claude-3-7-sonnet-latest', 'claude-sonnet-4-20250514', 'claude-sonnet-4-0'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)claude-opus-4(?:[.-][01](?!\d))?(?![.-]?\d(?!\d))/,
    traits: { contextLength: 200_000, maxOutputTokens: 32_000 },
    examples: ['claude-opus-4-20250514', 'claude-opus-4-0', 'claude-opus-4-1@20250805', 'claude-opus-4.1'],
    sources: [catalog],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus|sonnet)-4-0(?!\d)/,
    protocols: ['anthropic-messages'],
    traits: { thinking: 'budget', thinkingBudgetMin: 1024, thinkingOff: true },
    examples: ['claude-opus-4-0', 'claude-sonnet-4-0'],
    sources: [extended],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus|sonnet|haiku)-4[.-]5(?!\d)/,
    traits: { contextLength: 200_000, maxOutputTokens: 64_000 },
    examples: ['claude-haiku-4-5', 'claude-sonnet-4-5@20250929', 'claude-opus-4.5'],
    sources: [catalog, 'https://platform.claude.com/docs/zh-CN/docs/about-claude/models/overview'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus-4[.-]1|(?:opus|sonnet|haiku)-4[.-]5)(?!\d)/,
    protocols: ['anthropic-messages'],
    traits: {
      thinking: 'budget',
      thinkingBudgetMin: 1024,
      thinkingOff: true,
      schema: 'anthropic',
      strictTools: true,
      prefill: true,
      laterInstructions: false,
    },
    examples: ['claude-opus-4-1-20250805', 'claude-haiku-4-5-20251001', 'claude-opus-4-5'],
    sources: [catalog, adaptive, 'https://platform.claude.com/docs/en/build-with-claude/structured-outputs'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus-4[.-]1|(?:opus|sonnet|haiku)-4[.-]5|(?:opus|sonnet)-4[.-]6)(?!\d)/,
    traits: { temperatureWithTopP: false },
    examples: ['claude-opus-4-1', 'claude-sonnet-4-5', 'claude-sonnet-4-6'],
    sources: [oneSampler, 'https://github.com/iOfficeAI/AionUi/issues/912'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus|sonnet)-4[.-]6(?!\d)/,
    protocols: ['anthropic-messages'],
    traits: {
      effortLevels: ['low', 'medium', 'high', 'max'],
      laterInstructions: false,
      thinkingOff: true,
    },
    examples: ['claude-opus-4-6', 'anthropic.claude-opus-4-6-v1', 'claude-sonnet-4.6'],
    sources: [adaptive, 'https://platform.claude.com/docs/en/build-with-claude/effort', catalog],
    read,
  },
  {
    models:
      /(?:^|\.)claude-(?:(?:opus|sonnet)-4[.-][678](?!\d)|(?:opus|sonnet|haiku|fable|mythos)-(?:5|preview))/,
    traits: { prefill: false, contextLength: 1_000_000, maxOutputTokens: 128_000 },
    examples: ['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-fable-5', 'claude-mythos-preview'],
    sources: [prefill, overview, 'https://platform.claude.com/docs/en/models/opus-4-6/overview.md'],
    read,
  },
  {
    models:
      /(?:^|\.)claude-(?:(?:opus|sonnet)-4[.-][678](?!\d)|(?:opus|sonnet|haiku|fable|mythos)-(?:5|preview))/,
    protocols: ['anthropic-messages'],
    traits: { thinking: 'adaptive', schema: 'anthropic', strictTools: true, effortDefault: 'high' },
    examples: ['claude-opus-4-6', 'claude-opus-4-7', 'claude-sonnet-5', 'claude-haiku-5-5'],
    sources: [adaptive, catalog, 'https://platform.claude.com/docs/en/build-with-claude/effort'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus-4[.-][78](?!\d)|(?:opus|sonnet|haiku|fable|mythos)-(?:5|preview))/,
    traits: { takes: { temperature: false, topP: false, topK: false } },
    examples: ['claude-opus-4-7', 'claude-opus-5', 'claude-sonnet-5', 'claude-fable-5', 'claude-haiku-5.5'],
    sources: [
      'https://github.com/RooCodeInc/Roo-Code/issues/12162',
      'https://github.com/cline/cline/issues/10572',
      'https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/claude-5-5',
      catalog,
    ],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus-4[.-][78](?!\d)|(?:opus|sonnet|haiku|fable|mythos)-(?:5|preview))/,
    protocols: ['anthropic-messages'],
    traits: { effortLevels: ['low', 'medium', 'high', 'xhigh', 'max'], thinkingOff: true },
    examples: ['claude-opus-4-8', 'claude-opus-5-5', 'claude-sonnet-5@20260601'],
    sources: [catalog, 'https://github.com/anomalyco/opencode/issues/23007'],
    read,
  },
  {
    models: /(?:^|\.)claude-opus-4[.-]7(?!\d)/,
    protocols: ['anthropic-messages'],
    traits: { laterInstructions: false },
    examples: ['claude-opus-4-7'],
    sources: ['https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-8'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus-4[.-]8(?!\d)|opus-5|(?:sonnet|haiku)-5[.-]5(?!\d))/,
    protocols: ['anthropic-messages'],
    traits: { laterInstructions: true },
    examples: ['claude-opus-4-8', 'claude-opus-5', 'claude-haiku-5-5'],
    sources: [
      'https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-8',
      'https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/claude-5-5',
    ],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:fable|mythos)-(?:5|preview)/,
    protocols: ['anthropic-messages'],
    traits: { thinkingOff: false, forcedToolsWhileThinking: true },
    examples: ['claude-fable-5', 'claude-mythos-preview'],
    sources: [
      'https://github.com/cline/cline/issues/13203',
      'https://github.com/MoonshotAI/kimi-code/pull/610',
      whatsNew55,
    ],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:(?:fable|mythos)-5[.-][12](?!\d)|(?:opus|sonnet)-5[.-]5(?!\d))/,
    protocols: ['anthropic-messages'],
    traits: { thinkingOff: false },
    examples: ['claude-opus-5-5', 'claude-sonnet-5.5', 'claude-fable-5-2'],
    sources: [whatsNew55, 'https://platform.claude.com/docs/en/models/sonnet-5-5/migration-guide'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:(?:fable|mythos)-5[.-][12](?!\d)|(?:opus|sonnet)-5[.-]5(?!\d))/,
    traits: { forcedTools: false },
    examples: ['claude-opus-5-5', 'claude-fable-5-1'],
    sources: [whatsNew55, catalog, 'https://github.com/ENTERPILOT/GoModel/pull/856'],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:(?:fable|mythos)-5[.-][12](?!\d)|(?:opus|sonnet)-5[.-]5(?!\d))/,
    protocols: ['anthropic-messages'],
    traits: { forcedToolsWhileThinking: false },
    examples: ['claude-opus-5-5', 'claude-mythos-5-2'],
    sources: [whatsNew55],
    read,
  },
  {
    models: /(?:^|\.)claude-(?:opus|haiku)-5[.-]5(?!\d)/,
    protocols: ['anthropic-messages'],
    traits: { effortDefault: 'medium' },
    examples: ['claude-opus-5-5', 'claude-haiku-5-5'],
    sources: [
      whatsNew55,
      'https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/claude-5-5.md',
    ],
    read,
  },
]
