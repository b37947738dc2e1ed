import type { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, recordsOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { AnswerContext } from '../protocol.ts'
import { failureOf, responseId } from './errors.ts'
import { listsTools, writeUsage } from './wire.ts'

/** The parts of a response that change during a stream. */
export interface ResponseState {
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed'
  output: readonly Json[]
  usage: Usage | undefined
  /** Why the response is incomplete. */
  incompleteReason?: 'max_output_tokens' | 'content_filter'
  error?: GatewayError
}

type ResponseContext = Pick<
  AnswerContext,
  'requestId' | 'heldId' | 'kept' | 'model' | 'createdAtSeconds' | 'nowSeconds' | 'body'
>

/**
 * Creates the response object of one answer. In every state it repeats the settings of the request with their
 * defaults, like OpenAI, because clients with strict schemas require all keys.
 */
export function responseObjects(context: ResponseContext): (state: ResponseState) => Json {
  const head = {
    id: context.heldId ?? responseId(context.requestId),
    object: 'response',
    created_at: context.createdAtSeconds,
  }
  const { nowSeconds = clockSeconds } = context
  const settings = echoedSettings(context)
  return ({ status, output, usage, incompleteReason, error }) => ({
    ...head,
    status,
    completed_at: status === 'completed' ? nowSeconds() : null,
    error: error === undefined ? null : failureOf(error),
    incomplete_details: incompleteReason === undefined ? null : { reason: incompleteReason },
    output,
    ...settings,
    usage: writeUsage(usage),
  })
}

function clockSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** The events that answer a request that only prepares the next one. `body`: its `answerSettings`. */
export function preparedEvents(requestId: string, model: string, body: Json) {
  const response = responseObjects({
    requestId,
    model,
    body,
    createdAtSeconds: clockSeconds(),
  })
  const usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  const first = response({ status: 'in_progress', output: [], usage: undefined })
  const last = response({ status: 'completed', output: [], usage })
  return [
    { type: 'response.created', sequence_number: 0, response: first },
    { type: 'response.completed', sequence_number: 1, response: last },
  ]
}

/** Like `ClientSide#answerSettings`: the members that `echoedSettings` and `listedTools` read. */
export function answerSettings(body: Json): Json {
  const settings: Json = {}
  for (const name of settingNames) if (body[name] !== undefined) settings[name] = body[name]
  const items = recordsOf(body.input).filter(listsTools)
  return items.length === 0 ? settings : { ...settings, input: items }
}

const settingNames = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_p',
  'user',
] as const

function echoedSettings({ body, model, heldId, kept }: ResponseContext): Json {
  const text = isRecord(body.text) ? body.text : {}
  const reasoning = isRecord(body.reasoning) ? body.reasoning : {}
  return {
    model,
    access_programs: null,
    background: false,
    conversation: kept?.conversationId === undefined ? null : { id: kept.conversationId },
    frequency_penalty: 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: kept?.previousId ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    prompt_cache_retention: null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    // Upstreams do not store translated answers.
    store: heldId !== undefined || (kept?.days ?? 0) > 0,
    temperature: body.temperature ?? 1,
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: Array.isArray(body.tools) ? body.tools.map(echoedTool) : [],
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    user: body.user ?? null,
  }
}

/** In an answer, functions have all their keys. */
function echoedTool(tool: unknown): unknown {
  if (!isRecord(tool) || tool.type !== 'function') return tool
  return { description: null, parameters: null, strict: null, ...tool }
}
