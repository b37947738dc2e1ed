import { type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { Refusal } from '../check.ts'

/**
 * What Mistral refuses of Chat Completions: each member that its schema does not name (422), and orders of roles that its
 * models do not know (400). Throws Refusal. Other models have no such rules.
 *
 * https://docs.mistral.ai/api/endpoint/chat, https://github.com/editor-code-assistant/eca/issues/231 (the body of a 422),
 * https://github.com/avante-corp/avante.nvim/issues/2347 (stream_options),
 * https://github.com/charmbracelet/crush/issues/1590 (reasoning_content),
 * https://github.com/nearai/ironclaw/issues/1241 (ids of calls),
 * https://github.com/agno-agi/agno/issues/2285 and https://github.com/NousResearch/hermes-agent/issues/20154 (roles),
 * read 2026-11-28
 */
export function checkMistral(body: Json): void {
  const { model } = body
  if (typeof model !== 'string' || !/^(mistral|ministral|codestral|devstral|magistral|pixtral)-/.test(model))
    return
  refuseExtra(body, members, ['body'])
  if (typeof body.temperature === 'number' && body.temperature > 1.5) {
    throw invalid('less_than_equal', ['body', 'temperature'], 'Input should be less than or equal to 1.5')
  }
  const effort = body.reasoning_effort
  if (effort !== undefined && effort !== null && effort !== 'none' && effort !== 'high') {
    throw invalid('literal_error', ['body', 'reasoning_effort'], "Input should be 'high' or 'none'")
  }
  checkRoles(recordsOf(body.messages))
}

const members = [
  ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'stop', 'random_seed', 'metadata'],
  ...['response_format', 'tools', 'tool_choice', 'presence_penalty', 'frequency_penalty', 'n', 'prediction'],
  ...['parallel_tool_calls', 'reasoning_effort', 'prompt_mode', 'guardrails', 'prompt_cache_key'],
  ...['service_tier', 'safe_prompt'],
]

const messageMembers: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
}

function checkRoles(messages: readonly Json[]): void {
  for (const [at, message] of messages.entries()) {
    const role = String(message.role)
    const known = messageMembers[role]
    if (known === undefined) {
      throw invalid(
        'union_tag_invalid',
        ['body', 'messages', at],
        `Input tag '${role}' found using 'role' does not match any of the expected tags: 'system', 'user', 'assistant', 'tool'`,
      )
    }
    refuseExtra(message, known, ['body', 'messages', at, role])
    const ids = [message.tool_call_id, ...recordsOf(message.tool_calls).map(({ id }) => id)]
    const wrong = ids.find((id) => id !== undefined && !/^[a-zA-Z0-9]{9}$/.test(String(id)))
    if (wrong !== undefined) refuseId(String(wrong))
    if (role === 'user' && messages[at - 1]?.role === 'tool') {
      refuseOrder("Unexpected role 'user' after role 'tool'")
    }
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant' && last.prefix !== true) {
    refuseOrder(
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    )
  }
}

function refuseExtra(object: Json, known: readonly string[], place: readonly (string | number)[]): void {
  const extra = Object.keys(object).find((name) => !known.includes(name))
  if (extra === undefined) return
  throw invalid('extra_forbidden', [...place, extra], 'Extra inputs are not permitted', object[extra])
}

function invalid(
  type: string,
  loc: readonly (string | number)[],
  msg: string,
  input: unknown = null,
): Refusal {
  const detail = [{ type, loc, msg, input }]
  return new Refusal(422, msg, {
    field: loc.join('.'),
    body: {
      object: 'error',
      message: { detail },
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  })
}

function refuseId(id: string): never {
  const message = `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`
  throw new Refusal(400, message, {
    body: { object: 'error', message, type: 'invalid_function_call', param: null, code: '3280' },
  })
}

function refuseOrder(message: string): never {
  throw new Refusal(400, message, {
    body: { object: 'error', message, type: 'invalid_request_message_order', param: null, code: '3230' },
  })
}
