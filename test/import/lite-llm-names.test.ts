import { expect, test } from 'vitest'
import { guessed } from '../../src/import/lite-llm-models.ts'

test.each<[string, string | undefined]>([
  ...[
    'gpt-5',
    'o4-mini',
    'dall-e-3',
    'text-embedding-3-small',
    'omni-moderation-latest',
    'ft:gpt-4.1:acme',
  ].map((name): [string, string] => [name, 'openai']),
  ['claude-sonnet-5', 'anthropic'],
  ['mistral-large', undefined],
])('the model %s without a provider is of %s', (name, provider) => {
  expect(guessed(name)).toBe(provider)
})
