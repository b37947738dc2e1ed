import type { Json } from '../../../src/canonical/json.ts'
import { expectInteger, expectText } from './check.ts'
import { tokensOf } from './question.ts'

const text = ' a canned text of the strict vendor.'
/** The vendor's own default. https://platform.openai.com/docs/api-reference/completions/create, read 2026-11-22 */
const tokensDefault = 16

/** Answers the legacy `/v1/completions`. Throws Refusal. */
export function writeCompletion(body: Json, hash: string, createdAtSeconds: number): Json {
  const model = expectText(body.model, 'model')
  const prompt = expectText(body.prompt, 'prompt')
  const tokensMax = expectInteger(body.max_tokens, 'max_tokens', 1) ?? tokensDefault
  const words = text.match(/\s*\S+/g) ?? []
  const kept = words.slice(0, tokensMax)
  const promptTokens = tokensOf(prompt)
  return {
    id: `cmpl-vendor-${hash}`,
    object: 'text_completion',
    created: createdAtSeconds,
    model,
    choices: [
      {
        index: 0,
        text: kept.join(''),
        logprobs: null,
        finish_reason: kept.length < words.length ? 'length' : 'stop',
      },
    ],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: kept.length,
      total_tokens: promptTokens + kept.length,
    },
  }
}
