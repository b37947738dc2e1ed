import { isRecord, type Json, recordsOf } from '../../../src/canonical/json.ts'
import { isAbsent, refuse } from './check.ts'

/**
 * What OpenAI's models refuse, by the model's name. Throws Refusal. Other names have no such rules.
 *
 * https://developers.openai.com/api/docs/guides/reasoning, https://github.com/openai/openai-agents-python/issues/2089
 * (efforts), https://github.com/openai/openai-openapi/issues/541 and https://github.com/BerriAI/litellm/pull/34569 (tools
 * while thinking), https://github.com/run-llama/llama_index/issues/20865 (parallel_tool_calls),
 * https://github.com/BerriAI/litellm/issues/13381 (max_tokens), read 2026-11-22
 */
export function checkGpt(body: Json, model: string, api: 'chat' | 'responses'): void {
  const gpt = gptOf(model)
  if (gpt === undefined) return
  if (api === 'chat' && gpt.isOnResponsesOnly) {
    refuse(
      'This model is only supported in v1/responses and not in v1/chat/completions.',
      'model',
      'invalid_request_error',
    )
  }
  const effort = checkEffort(body, model, gpt, api)
  if (gpt.efforts === undefined) return
  const thinks = (effort ?? gpt.effortDefault) !== 'none'
  if (thinks || !gpt.samplesWithoutThinking) checkSampling(body, api)
  for (const name of ['frequency_penalty', 'presence_penalty', 'logit_bias', 'stop']) {
    if (!isAbsent(body[name])) refuseParameter(name)
  }
  if (gpt.name.startsWith('o') && !isAbsent(body.parallel_tool_calls)) refuseParameter('parallel_tool_calls')
  if (api === 'responses') return
  if (!isAbsent(body.max_tokens)) {
    refuse(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  }
  const hasFunctions = recordsOf(body.tools).some(({ type }) => type === 'function')
  if (gpt.thinksNotWithTools && thinks && hasFunctions) {
    refuse(
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      'reasoning_effort',
    )
  }
}

interface Gpt {
  name: string
  /** Undefined: the model never thinks. */
  efforts: readonly string[] | undefined
  effortDefault: string
  samplesWithoutThinking: boolean
  thinksNotWithTools: boolean
  isOnResponsesOnly: boolean
}

function gptOf(model: string): Gpt | undefined {
  const name = model.toLowerCase().replace(/^.*\//, '')
  const [, major, minor = '0'] = /^gpt-(\d)(?:\.(\d))?/.exec(name) ?? []
  if (major === undefined && !/^o[134](-|$)/.test(name)) return undefined
  const version = major === undefined ? 0 : Number(`${major}.${minor}`)
  const neverThinks = version > 0 && (version < 5 || name.startsWith('gpt-5-chat'))
  const isSixWithNone = /^gpt-6(-luna|-sol|\.1-terra)/.test(name)
  return {
    name,
    efforts: neverThinks ? undefined : effortsOf(name, version, isSixWithNone),
    effortDefault: version >= 5.1 && version < 5.5 && !/codex|chat|pro/.test(name) ? 'none' : 'medium',
    samplesWithoutThinking: (version >= 5.1 && version < 6) || isSixWithNone,
    thinksNotWithTools: version >= 5.4 && version < 6,
    isOnResponsesOnly: /^gpt-5(\.\d)?-codex|^gpt-5-pro|^o[13]-pro/.test(name),
  }
}

function effortsOf(name: string, version: number, isSixWithNone: boolean): readonly string[] {
  if (name.startsWith('gpt-5-pro')) return ['high']
  if (version === 0) return ['low', 'medium', 'high']
  if (/codex/.test(name)) {
    return version < 5.2 && !name.includes('-max')
      ? ['low', 'medium', 'high']
      : ['low', 'medium', 'high', 'xhigh']
  }
  if (version < 5.1) return ['minimal', 'low', 'medium', 'high']
  if (version < 5.2) return ['none', 'low', 'medium', 'high']
  if (version < 5.6) return ['none', 'low', 'medium', 'high', 'xhigh']
  const six = ['low', 'medium', 'high', 'xhigh', 'max']
  return version < 6 || isSixWithNone ? ['none', ...six] : six
}

/** Returns the effort that the request names. */
function checkEffort(body: Json, model: string, { efforts }: Gpt, api: 'chat' | 'responses'): unknown {
  const reasoning = isRecord(body.reasoning) ? body.reasoning : {}
  const effort = api === 'chat' ? body.reasoning_effort : reasoning.effort
  if (isAbsent(effort)) return undefined
  if (efforts === undefined) {
    if (api === 'chat') refuse('Unrecognized request argument supplied: reasoning_effort')
    refuseParameter('reasoning.effort')
  }
  if (efforts.includes(String(effort))) return effort
  const words = efforts.map((word) => `'${word}'`).join(', ')
  if (api === 'chat') {
    refuse(
      `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${words}.`,
      'reasoning_effort',
      'unsupported_value',
    )
  }
  return refuse(
    `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${words}.`,
    'reasoning.effort',
    'unsupported_value',
  )
}

function checkSampling(body: Json, api: 'chat' | 'responses'): void {
  if (api === 'chat' && !isAbsent(body.temperature) && body.temperature !== 1) {
    refuse(
      `Unsupported value: 'temperature' does not support ${body.temperature} with this model. Only the default (1) value is supported.`,
      'temperature',
      'unsupported_value',
    )
  }
  if (api === 'responses' && !isAbsent(body.temperature)) refuseParameter('temperature')
  for (const name of ['top_p', 'logprobs', 'top_logprobs']) {
    if (!isAbsent(body[name]) && body[name] !== false && body[name] !== 0) refuseParameter(name)
  }
}

function refuseParameter(name: string): never {
  refuse(`Unsupported parameter: '${name}' is not supported with this model.`, name, 'unsupported_parameter')
}
