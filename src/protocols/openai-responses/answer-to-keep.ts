import { isRecord, type Json, parseObject } from '../../canonical/json.ts'
import type { AnswerToKeep } from '../protocol-state.ts'

/** The response of a complete answer, or of the last event of a stream. A failed one is not continued. */
export function answerToKeep(bytes: Buffer): AnswerToKeep | undefined {
  const answer = responseIn(bytes.toString('utf8'))
  if (answer === undefined || typeof answer.id !== 'string') return undefined
  if (answer.status !== 'completed' && answer.status !== 'incomplete') return undefined
  const items = Array.isArray(answer.output) ? answer.output : []
  return { id: answer.id, output: JSON.stringify(items).slice(1, -1), answer }
}

function responseIn(text: string): Json | undefined {
  if (/^\s*\{/.test(text)) return parseObject(text)
  for (const line of text.split('\n').toReversed()) {
    if (!line.startsWith('data:')) continue
    const response = parseObject(line.slice('data:'.length))?.response
    if (isRecord(response)) return response
  }
  return undefined
}
