import { isRecord, type Json } from '../../../../src/canonical/json.ts'
import type { Answer, ToolCall } from '../answer.ts'
import type { Refusal } from '../check.ts'
import type { Dialect, Head } from '../dialect.ts'
import { sealThought } from '../seal.ts'
import { readMessages } from './read.ts'
import { queryOf, searchCall, searchCitation, searchResult } from './search.ts'

export const messages: Dialect = {
  read: readMessages,
  write([answer], head) {
    if (answer === undefined) return {}
    const ended = { stop_reason: stopOf(answer), stop_sequence: answer.stopSequence ?? null }
    return { ...openingOf(head), content: contentOf(answer, head), ...ended, usage: usageOf(answer, head) }
  },
  *stream([answer], head) {
    if (answer === undefined) return
    for (const event of eventsOf(answer, head))
      yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  },
  writeError,
}

function writeError({ status, message }: Refusal, requestId: string): Json {
  return { type: 'error', error: { type: errorTypes[status] ?? 'api_error', message }, request_id: requestId }
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  413: 'request_too_large',
}

function openingOf({ hash, question }: Head): Json {
  return {
    id: `msg_vendor_${hash}`,
    type: 'message',
    role: 'assistant',
    model: question.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  }
}

function contentOf(answer: Answer, head: Head): Json[] {
  const thought = answer.thought.join('')
  const signature = sealThought('messages', head.question.model, thought)
  return [
    ...(thought === '' ? [] : [{ type: 'thinking', thinking: isShown(head) ? thought : '', signature }]),
    ...answer.calls.map((call) => ({ ...openCall(call), input: inputOf(call) })),
    ...searchContent(head),
    ...textsOf(answer, head).map(({ pieces, citations }) => ({
      type: 'text',
      text: pieces.join(''),
      ...citations,
    })),
  ]
}

function* eventsOf(answer: Answer, head: Head): Generator<Json & { type: string }> {
  const usage = usageOf(answer, head)
  yield { type: 'message_start', message: { ...openingOf(head), usage: { ...usage, output_tokens: 1 } } }
  yield { type: 'ping' }
  let index = 0
  if (answer.thought.length > 0)
    yield* block(index++, { type: 'thinking', thinking: '', signature: '' }, thoughtDeltas(answer, head))
  for (const call of answer.calls) {
    const deltas = ['', ...call.pieces].map((text) => ({ type: 'input_json_delta', partial_json: text }))
    yield* block(index++, { ...openCall(call), input: {} }, deltas)
  }
  const [call, result] = searchContent(head)
  if (call !== undefined && result !== undefined) {
    const input = { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    yield* block(index++, { ...call, input: {} }, [input])
    yield* block(index++, result, [])
  }
  for (const { pieces, citations } of textsOf(answer, head)) {
    const sources = (citations?.citations ?? []).map((citation) => ({ type: 'citations_delta', citation }))
    const deltas = pieces.map((text) => ({ type: 'text_delta', text }))
    yield* block(index++, { type: 'text', text: '' }, [...sources, ...deltas])
  }
  const ended = { stop_reason: stopOf(answer), stop_sequence: answer.stopSequence ?? null }
  yield { type: 'message_delta', delta: ended, usage }
  yield { type: 'message_stop' }
}

function* block(index: number, open: Json, deltas: readonly Json[]): Generator<Json & { type: string }> {
  yield { type: 'content_block_start', index, content_block: open }
  for (const delta of deltas) yield { type: 'content_block_delta', index, delta }
  yield { type: 'content_block_stop', index }
}

function thoughtDeltas({ thought }: Answer, head: Head): Json[] {
  const shown = isShown(head) ? thought : []
  const signature = sealThought('messages', head.question.model, thought.join(''))
  return [
    ...shown.map((text) => ({ type: 'thinking_delta', thinking: text })),
    { type: 'signature_delta', signature },
  ]
}

function isShown({ body }: Head): boolean {
  return !(isRecord(body.thinking) && body.thinking.display === 'omitted')
}

/** The call and the result of a web search, if the vendor searches. */
function searchContent({ hash, body }: Head): Json[] {
  const query = queryOf(body)
  return query === undefined ? [] : [{ ...searchCall(hash), input: { query } }, searchResult(hash)]
}

/** The text of an answer. The second half of one after a search has a source. */
function textsOf(
  { pieces }: Answer,
  { body }: Head,
): { pieces: string[]; citations?: { citations: Json[] } }[] {
  if (pieces.length === 0) return []
  if (queryOf(body) === undefined || pieces.length < 2) return [{ pieces }]
  const half = Math.floor(pieces.length / 2)
  return [
    { pieces: pieces.slice(0, half) },
    { pieces: pieces.slice(half), citations: { citations: [searchCitation()] } },
  ]
}

function openCall({ hash, tool }: ToolCall): Json {
  return { type: 'tool_use', id: `toolu_vendor_${hash}`, name: tool.name }
}

function inputOf({ input }: ToolCall): unknown {
  const value: unknown = JSON.parse(input)
  return isRecord(value) ? value : {}
}

function stopOf({ end }: Answer): string {
  switch (end) {
    case 'stop':
      return 'end_turn'
    case 'length':
      return 'max_tokens'
    case 'tool_calls':
      return 'tool_use'
    case 'stop_sequence':
      return 'stop_sequence'
  }
}

function usageOf({ thought, tokens }: Answer, { question, body }: Head): Json {
  return {
    input_tokens: question.promptTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: Math.max(1, tokens) + thought.length,
    output_tokens_details: { thinking_tokens: thought.length },
    service_tier: 'standard',
    ...(queryOf(body) === undefined
      ? {}
      : { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } }),
  }
}
