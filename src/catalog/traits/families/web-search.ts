import type { Family } from '../family.ts'

const read = '2026-11-22'
const litellm = 'https://docs.litellm.ai/docs/completion/web_search'

/**
 * Whether models can search the web over Chat Completions. A model without an entry here is sent a web search
 * over Chat Completions only if the client has no other tools. In the other formats, the vendors' current
 * models support web search.
 */
export const webSearchFamilies: readonly Family[] = [
  {
    models: /(?:^|\.)(?:gpt-(?!oss|j\b|neo|.*search)|chatgpt-|o\d(?:-|$)|codex-)/,
    protocols: ['openai-chat'],
    traits: { webSearch: false },
    examples: ['gpt-5', 'gpt-4.1', 'o4-mini-2025-04-16', 'chatgpt-4o-latest'],
    sources: [
      'https://github.com/pydantic/pydantic-ai/issues/2822',
      'https://github.com/BerriAI/litellm/issues/12311',
      litellm,
    ],
    read,
  },
  {
    models: /^(?:gpt-5-search-api|sonar(?:-|$))/,
    protocols: ['openai-chat'],
    traits: { webSearch: true },
    examples: ['gpt-5-search-api', 'sonar', 'sonar-pro'],
    sources: [litellm, 'https://github.com/cpbotha/obsidian-ai-chat-as-md/issues/5'],
    read,
  },
  {
    models: /^grok-/,
    protocols: ['openai-chat'],
    traits: { webSearch: false },
    examples: ['grok-4', 'grok-3-mini'],
    sources: ['https://github.com/vercel/ai/pull/15713'],
    read,
  },
]
