import type { Family } from '../family.ts'

const read = '2026-11-22'
const noToolsWithJson = 'https://github.com/googleapis/python-genai/issues/867'
const thinking = 'https://ai.google.dev/gemini-api/docs/thinking'
const modelsDev = 'https://github.com/anomalyco/models.dev/tree/dev/providers/google/models'
const flashLite35 =
  'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/3-5-flash-lite'
const penalties =
  'https://github.com/vercel/ai/blob/main/packages/google/src/__fixtures__/issue-8943-gemini-2.5-pro-error.json'
const levels37 =
  'https://github.com/vercel/ai/blob/main/packages/google/src/__fixtures__/google-gemini-3.7-flash-thinking-levels.json'
const forcedWithJson =
  'https://github.com/vercel/ai/blob/main/packages/google/src/__fixtures__/google-structured-output-with-tools-error.json'
const gemini3 = 'https://www.aifreeapi.com/en/posts/gemini-api-thinking-level'

/** Google's Gemini. */
export const geminiFamilies: readonly Family[] = [
  {
    models: /^gemini-/,
    traits: {
      input: ['text', 'image', 'document', 'audio', 'video'],
      output: ['text'],
      tools: true,
      parallelTools: true,
      forcedTools: true,
      jsonMode: true,
      temperatureMax: 2,
      caching: 'automatic',
      contextLength: 1_048_576,
      maxOutputTokens: 65_536,
    },
    examples: ['gemini-2.5-flash', 'gemini-3.8-flash'],
    sources: [modelsDev],
    read,
  },
  {
    models: /^gemini-/,
    protocols: ['gemini'],
    traits: { schema: 'gemini', stopMax: 5, choicesMax: 8, forcedToolsWithFormat: false },
    examples: ['gemini-2.0-flash'],
    sources: ['https://ai.google.dev/api/generate-content', forcedWithJson],
    read,
  },
  {
    models: /^gemini-(?:1|2)\.\d/,
    traits: { toolsWithFormat: false },
    examples: ['gemini-1.5-pro', 'gemini-2.0-flash-001', 'gemini-2.5-pro', 'gemini-2.5-flash-lite'],
    sources: [noToolsWithJson, 'https://github.com/alphaXiv/agents/issues/3'],
    read,
  },
  {
    models: /^gemini-(?:1\.5|2\.0)/,
    protocols: ['gemini'],
    traits: { thinking: 'none' },
    examples: ['gemini-2.0-flash-lite-001'],
    sources: [thinking],
    read,
  },
  {
    models: /^gemini-(?:1\.5|2\.0)/,
    traits: { maxOutputTokens: 8192 },
    examples: ['gemini-2.0-flash'],
    sources: [modelsDev],
    read,
  },
  {
    models: /^gemini-2\.5/,
    traits: { takes: { frequencyPenalty: false, presencePenalty: false } },
    examples: ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite'],
    sources: [penalties, 'https://github.com/vercel/ai/issues/8943'],
    read,
  },
  {
    models: /^gemini-2\.5-pro/,
    protocols: ['gemini'],
    traits: {
      thinking: 'budget',
      thinkingBudgetMin: 128,
      thinkingBudgetMax: 32_768,
      thinkingOff: false,
    },
    examples: ['gemini-2.5-pro'],
    sources: [thinking, modelsDev],
    read,
  },
  {
    models: /^gemini-2\.5-flash(?!-lite|-image|-native|.*-tts)/,
    protocols: ['gemini'],
    traits: { thinking: 'budget', thinkingBudgetMin: 1, thinkingBudgetMax: 24_576, thinkingOff: true },
    examples: ['gemini-2.5-flash', 'gemini-2.5-flash-preview-09-2025'],
    sources: [thinking],
    read,
  },
  {
    models: /^gemini-2\.5-flash-lite/,
    protocols: ['gemini'],
    traits: { thinking: 'budget', thinkingBudgetMin: 512, thinkingBudgetMax: 24_576, thinkingOff: true },
    examples: ['gemini-2.5-flash-lite'],
    sources: [thinking],
    read,
  },
  {
    models: /^gemini-(?:2\.5-flash-image|3(?:\.\d)?-(?:pro|flash)-image)/,
    traits: { output: ['text', 'image'], tools: false, maxOutputTokens: 32_768 },
    examples: ['gemini-2.5-flash-image', 'gemini-3-pro-image', 'gemini-3.1-flash-image-preview'],
    sources: [modelsDev],
    read,
  },
  {
    models: /^gemini-2\.5-flash-image/,
    protocols: ['gemini'],
    traits: { thinking: 'none' },
    examples: ['gemini-2.5-flash-image'],
    sources: [thinking],
    read,
  },
  {
    models: /^gemini-[3-9]/,
    traits: { toolsWithFormat: true },
    examples: ['gemini-3-pro-preview', 'gemini-3.5-flash'],
    sources: ['https://github.com/alphaXiv/agents/issues/3', noToolsWithJson],
    read,
  },
  {
    models: /^gemini-[3-9]/,
    protocols: ['gemini'],
    traits: { thinking: 'effort', thinkingOff: false, effortLevels: ['low', 'high'], effortDefault: 'high' },
    examples: ['gemini-3-pro-preview'],
    sources: [gemini3, thinking],
    read,
  },
  {
    models: /^gemini-3(?:\.1-pro|\.[78]-flash)/,
    protocols: ['gemini'],
    traits: { effortLevels: ['low', 'medium', 'high'] },
    examples: ['gemini-3.1-pro-preview', 'gemini-3.7-flash', 'gemini-3.8-flash'],
    sources: [levels37, modelsDev, gemini3],
    read,
  },
  {
    models: /^gemini-3(?:\.[156])?-flash(?!-image)/,
    protocols: ['gemini'],
    traits: { effortLevels: ['minimal', 'low', 'medium', 'high'] },
    examples: [
      'gemini-3-flash-preview',
      'gemini-3.1-flash-lite',
      'gemini-3.5-flash',
      'gemini-3.5-flash-lite',
    ],
    sources: [
      'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-flash',
      'https://vercel.com/ai-gateway/models/gemini-3.1-flash-lite/about',
      flashLite35,
    ],
    read,
  },
  {
    models: /^gemini-3\.5-flash-lite/,
    protocols: ['gemini'],
    traits: {
      takes: {
        temperature: false,
        topP: false,
        topK: false,
        frequencyPenalty: false,
        presencePenalty: false,
      },
      prefill: false,
      effortDefault: 'minimal',
    },
    examples: ['gemini-3.5-flash-lite'],
    sources: [flashLite35],
    read,
  },
]
