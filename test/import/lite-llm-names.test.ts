import { expect, test } from 'vitest'
import { guessed } from '../../src/imports/lite-llm-models.ts'

test.each<[name: string, provider: string | undefined]>([
  ['gpt-5', 'openai'],
  ['o4-mini', 'openai'],
  ['dall-e-3', 'openai'],
  ['text-embedding-3-small', 'openai'],
  ['omni-moderation-latest', 'openai'],
  ['ft:gpt-4.1:acme', 'openai'],
  ['claude-sonnet-5', 'anthropic'],
  ['mistral-large', undefined],
])('the model %s without a provider is of %s', (name, provider) => {
  expect(guessed(name)).toBe(provider)
})
