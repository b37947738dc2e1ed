import { expect, test } from 'vitest'
import { outputTokensDefault } from '../../src/pipeline/translation/translate.ts'

test.each([
  [{ maxOutputTokens: 100, contextLength: 1000 }, { maxOutputTokens: 64_000 }, 100],
  [{ maxOutputTokens: undefined, contextLength: undefined }, { maxOutputTokens: 64_000 }, 64_000],
  [{ maxOutputTokens: undefined, contextLength: 1000 }, { maxOutputTokens: 64_000 }, 1000],
  [{ maxOutputTokens: undefined, contextLength: 1000 }, {}, 1000],
  [{ maxOutputTokens: undefined, contextLength: 200_000 }, {}, 8192],
  [undefined, {}, 8192],
])('the bound without the client’s own: %j with %j is %i', (model, traits, tokens) => {
  expect(outputTokensDefault(model, traits, 8192)).toBe(tokens)
})
