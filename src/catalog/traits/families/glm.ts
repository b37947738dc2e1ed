import type { Family } from '../family.ts'

const read = '2026-11-28'
const concept = 'https://docs.z.ai/guides/overview/concept-param'
const toggle = 'https://github.com/theopenco/llmgateway/pull/3049'

/** Z.AI's GLM. The parameters for thinking are those of Z.AI's own API. */
export const glmFamilies: readonly Family[] = [
  {
    models: /^glm-(?:4\.[5-9]|[5-9])/,
    traits: { output: ['text'], tools: true },
    examples: ['glm-4.6', 'glm-5', 'glm-5.3-flash'],
    sources: ['https://github.com/anomalyco/models.dev/tree/dev/models/zai', concept],
    read,
  },
  {
    models: /^glm-(?:4\.[5-9]|5(?!\.[2-9])(?!-turbo))/,
    vendors: ['zai'],
    protocols: ['openai-chat'],
    traits: { thinking: 'switch', thinkingSwitch: 'thinking', thinkingOff: true, thinkingDefault: true },
    examples: ['glm-4.5-air', 'glm-4.7', 'glm-5', 'glm-5.1'],
    sources: [concept, toggle, 'https://github.com/No-Compromise-AI/glm-mcp/issues/60'],
    read,
  },
  {
    models: /^glm-5\.2/,
    vendors: ['zai'],
    protocols: ['openai-chat'],
    traits: {
      thinking: 'effort',
      thinkingSwitch: 'thinking',
      thinkingOff: true,
      thinkingDefault: true,
      effortLevels: ['high', 'max'],
      effortDefault: 'max',
    },
    examples: ['glm-5.2'],
    sources: [toggle, 'https://docs.z.ai/guides/llm/glm-5.2'],
    read,
  },
  {
    models: /^glm-(?:5\.[3-9]|[6-9])/,
    vendors: ['zai'],
    protocols: ['openai-chat'],
    traits: {
      thinking: 'effort',
      thinkingOff: false,
      thinkingDefault: true,
      effortLevels: ['low', 'high', 'max'],
      effortDefault: 'max',
    },
    examples: ['glm-5.3', 'glm-5.3-flash', 'glm-6'],
    sources: [
      concept,
      'https://github.com/NousResearch/hermes-agent/pull/85891',
      'https://github.com/theopenco/llmgateway/pull/3605',
    ],
    read,
  },
]
