import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { refuse } from '../check.ts'

/**
 * What DeepSeek refuses of Chat Completions. Throws Refusal. It ignores `max_completion_tokens`: see `isDeepSeek`.
 *
 * https://api-docs.deepseek.com/api/create-chat-completion, https://github.com/llm-exe/llm-exe/issues/662 (json_schema),
 * https://github.com/esengine/DeepSeek-Reasonix/issues/10210 (reasoning_content),
 * https://github.com/deepseek-ai/DeepSeek-V3/issues/1376 (tool_choice), read 2026-11-28
 */
export function checkDeepSeek(body: Json): void {
  if (!isDeepSeek(body)) return
  if (isRecord(body.response_format) && body.response_format.type === 'json_schema') {
    refuse('This response_format type is unavailable now', undefined, 'invalid_request_error')
  }
  const messages = recordsOf(body.messages)
  const at = messages.findIndex(({ role }) => role === 'developer')
  if (at !== -1) {
    refuse(
      `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
    )
  }
  const isOff = isRecord(body.thinking) && body.thinking.type === 'disabled'
  const isForgotten = messages.some(
    ({ role, tool_calls: calls, reasoning_content: thought }) =>
      role === 'assistant' && Array.isArray(calls) && typeof thought !== 'string',
  )
  if (!isOff && (body.tool_choice === 'required' || isRecord(body.tool_choice))) {
    refuse('Thinking mode does not support this tool_choice', undefined, 'invalid_request_error')
  }
  if (!isOff && isForgotten) {
    refuse('The `reasoning_content` in the thinking mode must be passed back to the API.')
  }
}

export function isDeepSeek({ model }: Json): boolean {
  return typeof model === 'string' && /^deepseek-(v4|flash|pro)/.test(model)
}
