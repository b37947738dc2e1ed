import { isRecord, type Json } from '../../../../src/canonical/json.ts'
import type { Answer } from '../answer.ts'
import type { Refusal } from '../check.ts'
import type { Dialect, Head } from '../dialect.ts'
import { sealThought } from '../seal.ts'
import { readGemini } from './read.ts'

export const gemini: Dialect = {
  read: readGemini,
  write: (answers, head) => {
    const candidates = answers.map((answer, index) => ({
      content: { parts: partsOf(answer, head), role: 'model' },
      finishReason: finishOf(answer),
      index,
    }))
    return { candidates, ...closingOf(answers, head) }
  },
  *stream(answers, head) {
    for (const [index, answer] of answers.entries()) {
      const parts = streamedParts(answer, head)
      for (const [at, part] of parts.entries()) {
        const ended = at === parts.length - 1 ? { finishReason: finishOf(answer) } : {}
        const candidate = { content: { parts: [part], role: 'model' }, ...ended, index }
        yield `data: ${JSON.stringify({ candidates: [candidate], ...closingOf(answers, head) })}\r\n\r\n`
      }
    }
  },
  writeError,
}

function writeError({ status, message }: Refusal): Json {
  return { error: { code: status, message, status: errorWords[status] ?? 'INTERNAL' } }
}

const errorWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
}

function partsOf(answer: Answer, head: Head): Json[] {
  const thought = answer.thought.length === 0 ? [] : [{ text: answer.thought.join(''), thought: true }]
  if (answer.calls.length > 0) return [...thought, ...callParts(answer, head)]
  return [...thought, { text: answer.pieces.join(''), thoughtSignature: signatureOf(answer, head) }]
}

/** Thoughts and text in pieces. The signature of a text comes last, in a part with empty text. */
function streamedParts(answer: Answer, head: Head): Json[] {
  const thought = answer.thought.map((text) => ({ text, thought: true }))
  if (answer.calls.length > 0) return [...thought, ...callParts(answer, head), { text: '' }]
  const text = answer.pieces.map((text) => ({ text }))
  return [...thought, ...text, { text: '', thoughtSignature: signatureOf(answer, head) }]
}

/** Only the first of parallel calls has a signature. The vendor gives calls no ids. */
function callParts(answer: Answer, head: Head): Json[] {
  return answer.calls.map(({ tool, input }, at) => {
    const args: unknown = JSON.parse(input)
    return {
      functionCall: { name: tool.name, args: isRecord(args) ? args : {} },
      ...(at === 0 ? { thoughtSignature: signatureOf(answer, head) } : {}),
    }
  })
}

function signatureOf({ thought }: Answer, { question }: Head): string {
  return sealThought('gemini', question.model, thought.join(''))
}

function finishOf({ end }: Answer): string {
  return end === 'length' ? 'MAX_TOKENS' : 'STOP'
}

function closingOf(answers: readonly Answer[], { hash, question }: Head): Json {
  const thoughts = answers.reduce((sum, { thought }) => sum + thought.length, 0)
  const tokens = answers.reduce((sum, answer) => sum + Math.max(1, answer.tokens), 0)
  return {
    usageMetadata: {
      promptTokenCount: question.promptTokens,
      candidatesTokenCount: tokens,
      totalTokenCount: question.promptTokens + tokens + thoughts,
      ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
    },
    modelVersion: question.model,
    responseId: `vendor-${hash}`,
  }
}
