import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { brokenOff, readFinishWord } from '../finish-words.ts'
import { isEmptyAnswer } from '../no-answer.ts'
import { decodeStreamError } from '../openai-errors.ts'

/**
 * The error that an answer or a chunk contains instead of content. OpenRouter puts errors into the choice,
 * and vLLM sends the error object itself.
 */
export function errorIn(answer: Json, choice: unknown): GatewayError | undefined {
  const error = answer.error || (isRecord(choice) && choice.error) || (answer.object === 'error' && answer)
  return error ? decodeStreamError(error) : undefined
}

/** The error for an aborted answer according to its finish reason, if any. */
export function brokenOffBy(word: string | undefined): GatewayError | undefined {
  return word !== undefined && readFinishWord(word) === undefined ? brokenOff(word) : undefined
}

/**
 * Why a complete answer is a failure: it is an error, it has no choices, or all its choices are without
 * content and either aborted or empty. Embeddings and moderations are not chat answers and have other lists
 * in place of choices.
 */
export function failureOf(answer: Json, usage: Usage | undefined): GatewayError | undefined {
  const { choices } = answer
  const said = errorIn(answer, undefined)
  if (said !== undefined) return said
  if (!isFull(choices)) {
    const isOther = Array.isArray(answer.data) || Array.isArray(answer.results)
    return isOther ? undefined : noAnswer(answer)
  }
  let failure: GatewayError | undefined
  for (const choice of choices) {
    const each = isRecord(choice) ? failureOfChoice(answer, choice, usage) : undefined
    if (each === undefined) return undefined
    failure ??= each
  }
  return failure
}

/**
 * The error for a body without an answer, with the upstream's message if there is one: `{ "code": 500, "msg":
 * "..." }`.
 */
export function noAnswer(body: Json): GatewayError {
  const { message, msg, detail } = body
  if ([message, msg, detail].some((words) => words !== undefined && words !== null && words !== ''))
    return decodeStreamError(body)
  return gatewayError('upstream_answer_unreadable', { what: 'no answer in the Chat Completions format' })
}

/** Like `isEmptyAnswer`. Many upstreams of this format report no counts, or zeros. */
export function isSilent(word: string | undefined, usage: Usage | undefined): boolean {
  return isEmptyAnswer(word, usage ?? nothingUsed)
}

const nothingUsed: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

function failureOfChoice(answer: Json, choice: Json, usage: Usage | undefined): GatewayError | undefined {
  const word = textOf(choice.finish_reason)
  const error = choice.error ? errorIn(answer, choice) : brokenOffBy(word)
  if (error !== undefined || !isSilent(word, usage)) return error
  return isRecord(choice.message) && !hasContent(choice.message)
    ? gatewayError('upstream_answer_empty')
    : undefined
}

/** Any member except the role counts, whether we know it or not. */
function hasContent(message: Json): boolean {
  return Object.entries(message).some(
    ([name, value]) =>
      name !== 'role' && value !== null && value !== '' && value !== false && !isEmptyList(value),
  )
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

function isFull(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0
}
