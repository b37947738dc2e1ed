import { isRecord, type Json } from '../../../../src/canonical/json.ts'
import type { Answer, ToolCall } from '../answer.ts'
import { writeError } from '../chat/write.ts'
import type { Dialect, Head } from '../dialect.ts'
import { sealThought } from '../seal.ts'
import type { HeldResponses } from './held.ts'
import { readResponses } from './read.ts'

/** `held`: the answers that clients may continue. `isOpen`: as Open Responses says, not as OpenAI does. */
export function responses(held: HeldResponses, isOpen: boolean): Dialect {
  return {
    read: (call) => readResponses(call, held, isOpen ? 1 : 16),
    write([answer], head) {
      const response = finished(answer, head)
      hold(held, response, head)
      return response
    },
    *stream([answer], head) {
      const response = finished(answer, head)
      hold(held, response, head)
      let number = 0
      for (const event of eventsOf(answer, response, head)) {
        yield `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number++ })}\n\n`
      }
      if (isOpen) yield 'data: [DONE]\n\n'
    },
    writeError,
  }
}

function hold(held: HeldResponses, response: Json, { body }: Head): void {
  if (body.store === false) return
  const output = Array.isArray(response.output) ? response.output.filter(isRecord) : []
  held.add(String(response.id), response, [...held.conversation(body), ...output])
}

/** The whole answer. Like the vendor's, it repeats the settings of the request. */
function finished(answer: Answer | undefined, head: Head): Json {
  const isCut = answer?.end === 'length'
  return {
    ...settingsOf(head),
    status: isCut ? 'incomplete' : 'completed',
    completed_at: isCut ? null : head.createdAtSeconds,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: answer === undefined ? [] : itemsOf(answer, head),
    usage: answer === undefined ? null : usageOf(answer, head),
  }
}

function settingsOf({ hash, createdAtSeconds, body, question }: Head): Json {
  const reasoning = isRecord(body.reasoning) ? body.reasoning : {}
  const text = isRecord(body.text) ? body.text : {}
  return {
    id: `resp_vendor_${hash}`,
    object: 'response',
    created_at: createdAtSeconds,
    background: false,
    error: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: question.model,
    parallel_tool_calls: question.isParallel,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    store: body.store !== false,
    temperature: body.temperature ?? 1,
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    user: body.user ?? null,
    metadata: body.metadata ?? {},
    frequency_penalty: 0,
    presence_penalty: 0,
  }
}

function itemsOf(answer: Answer, head: Head): Json[] {
  const items: Json[] = []
  if (answer.thought.length > 0) items.push(thoughtItem(answer.thought.join(''), head))
  for (const call of answer.calls) items.push(callItem(call, call.input, 'completed'))
  if (answer.calls.length === 0) {
    const part = { type: 'output_text', text: answer.pieces.join(''), annotations: [], logprobs: [] }
    items.push(messageItem(head, [part], answer.end === 'length' ? 'incomplete' : 'completed'))
  }
  return items
}

function thoughtItem(thought: string, { hash, body, question }: Head): Json {
  const isSummed = isRecord(body.reasoning) && typeof body.reasoning.summary === 'string'
  const isSealed = Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content')
  return {
    id: `rs_vendor_${hash}`,
    type: 'reasoning',
    summary: isSummed ? [{ type: 'summary_text', text: thought }] : [],
    ...(isSealed ? { encrypted_content: sealThought('responses', question.model, thought) } : {}),
  }
}

function messageItem({ hash }: Head, content: Json[], status: string): Json {
  return { id: `msg_vendor_${hash}`, type: 'message', status, role: 'assistant', content }
}

function callItem({ hash, tool }: ToolCall, input: string, status: string): Json {
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  const common = { call_id: `call_vendor_${hash}`, name: tool.name, ...namespace }
  return tool.kind === 'custom'
    ? { id: `ctc_vendor_${hash}`, type: 'custom_tool_call', ...common, input, status }
    : { id: `fc_vendor_${hash}`, type: 'function_call', ...common, arguments: input, status }
}

function* eventsOf(
  answer: Answer | undefined,
  response: Json,
  head: Head,
): Generator<Json & { type: string }> {
  const open = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  yield { type: 'response.created', response: open }
  yield { type: 'response.in_progress', response: open }
  if (answer !== undefined) {
    let index = 0
    if (answer.thought.length > 0) yield* thoughtEvents(answer, index++, head)
    for (const call of answer.calls) yield* callEvents(call, index++)
    if (answer.calls.length === 0) yield* messageEvents(answer, index, head)
  }
  yield { type: response.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response }
}

function* thoughtEvents({ thought }: Answer, index: number, head: Head): Generator<Json & { type: string }> {
  const item = thoughtItem(thought.join(''), head)
  yield { type: 'response.output_item.added', output_index: index, item: { ...item, summary: [] } }
  if (Array.isArray(item.summary) && item.summary.length > 0) {
    const place = { item_id: item.id, output_index: index, summary_index: 0 }
    const part = (text: string) => ({ type: 'summary_text', text })
    yield { type: 'response.reasoning_summary_part.added', ...place, part: part('') }
    for (const delta of thought) yield { type: 'response.reasoning_summary_text.delta', ...place, delta }
    const text = thought.join('')
    yield { type: 'response.reasoning_summary_text.done', ...place, text }
    yield { type: 'response.reasoning_summary_part.done', ...place, part: part(text) }
  }
  yield { type: 'response.output_item.done', output_index: index, item }
}

function* callEvents(call: ToolCall, index: number): Generator<Json & { type: string }> {
  const isCustom = call.tool.kind === 'custom'
  const item = callItem(call, call.input, 'completed')
  const place = { item_id: item.id, output_index: index }
  const name = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  yield { type: 'response.output_item.added', output_index: index, item: callItem(call, '', 'in_progress') }
  for (const delta of call.pieces) yield { type: `${name}.delta`, ...place, delta }
  yield { type: `${name}.done`, ...place, [isCustom ? 'input' : 'arguments']: call.input }
  yield { type: 'response.output_item.done', output_index: index, item }
}

function* messageEvents(answer: Answer, index: number, head: Head): Generator<Json & { type: string }> {
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const empty = messageItem(head, [], 'in_progress')
  const place = { item_id: empty.id, output_index: index, content_index: 0 }
  const text = answer.pieces.join('')
  yield { type: 'response.output_item.added', output_index: index, item: empty }
  yield { type: 'response.content_part.added', ...place, part: part('') }
  for (const delta of answer.pieces)
    yield { type: 'response.output_text.delta', ...place, delta, logprobs: [] }
  yield { type: 'response.output_text.done', ...place, text, logprobs: [] }
  yield { type: 'response.content_part.done', ...place, part: part(text) }
  const status = answer.end === 'length' ? 'incomplete' : 'completed'
  yield {
    type: 'response.output_item.done',
    output_index: index,
    item: messageItem(head, [part(text)], status),
  }
}

function usageOf({ thought, tokens }: Answer, { question }: Head): Json {
  const output = Math.max(1, tokens) + thought.length
  return {
    input_tokens: question.promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thought.length },
    total_tokens: question.promptTokens + output,
  }
}
