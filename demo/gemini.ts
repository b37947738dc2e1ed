import type { Answer } from './canned-answers.ts'
import type { DemoFormat, Head } from './format.ts'
import type { Json } from './json.ts'

/** https://ai.google.dev/api/generate-content */
export const gemini: DemoFormat = { whole, events, error }

function whole(answer: Answer, head: Head): Json {
  const joined = (pieces: string[]) => (pieces.length === 0 ? [] : [pieces.join('')])
  const parts = partsOf({ ...answer, thought: joined(answer.thought), text: joined(answer.text) })
  return { ...candidate(parts, finishReason(answer)), ...closing(answer, head) }
}

function* events(answer: Answer, head: Head): Generator<Json> {
  for (const part of partsOf(answer)) yield candidate([part])
  yield { ...candidate([{ text: '' }], finishReason(answer)), ...closing(answer, head) }
}

function error(status: number, message: string): Json {
  const words: Record<number, string> = { 400: 'INVALID_ARGUMENT', 404: 'NOT_FOUND' }
  return { error: { code: status, message, status: words[status] ?? 'INTERNAL' } }
}

function partsOf({ thought, text, call }: Answer): Json[] {
  const thoughts = thought.map((text): Json => ({ text, thought: true }))
  const calls = call === undefined ? [] : [{ functionCall: { name: call.name, args: call.input } }]
  return [...thoughts, ...text.map((text) => ({ text })), ...calls]
}

function candidate(parts: Json[], finishReason?: string): Json {
  return { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason }] }
}

function finishReason({ isCut }: Answer): string {
  return isCut ? 'MAX_TOKENS' : 'STOP'
}

function closing({ thought, inputTokens, outputTokens }: Answer, { id, model }: Head): Json {
  return {
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens - thought.length,
      thoughtsTokenCount: thought.length,
      totalTokenCount: inputTokens + outputTokens,
    },
    modelVersion: model,
    responseId: `demo-${id}`,
  }
}
