import type { ChatRequest, Turn, UnmappedField } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { invalid } from '../json-scan.ts'
import type { DecodeContext } from '../protocol.ts'
import { decodeMessages, decodeSystem } from './decode-messages.ts'
import { decodeOutput } from './decode-output.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'
import { Members, wrong } from './shape.ts'

/**
 * A `/v1/messages` body in canonical words, for an upstream that speaks another format. Throws GatewayError
 * `invalid_request` naming what has the wrong shape.
 */
export function decodeRequest(body: Json, { envelope }: DecodeContext): ChatRequest {
  const others: UnmappedField[] = []
  const members = new Members(body, '')
  const seenTools = new Set<string>()
  const turns: Turn[] = [
    ...decodeSystem(members.any('system'), others),
    ...decodeMessages(members, { others, envelope, seenTools }),
  ]
  const tools = decodeTools(members, seenTools, others)
  const { toolChoice, parallelToolCalls } = decodeToolChoice(members, tools, others)
  const { reasoning, format, reasoningName } = decodeOutput(members, others)
  const request: ChatRequest = {
    model: members.requiredText('model'),
    stream: members.boolean('stream') ?? false,
    turns,
    tools,
    toolChoice,
    parallelToolCalls,
    maxOutputTokens: readMaxTokens(members, others),
    choices: 1,
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: members.number('top_k'),
    seed: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    logitBias: undefined,
    stop: readStop(members),
    logprobs: undefined,
    reasoning,
    format,
    verbosity: undefined,
    userId: readUserId(members, others),
    metadata: undefined,
    serviceTier: readServiceTier(members),
    store: undefined,
    cacheKey: undefined,
    unmapped: others,
    names: { ...names, reasoning: reasoningName },
  }
  readVendorFields(members, others)
  members.rest(others)
  return request
}

const names: ChatRequest['names'] = {
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  format: 'output_config.format',
  userId: 'metadata.user_id',
  serviceTier: 'service_tier',
}

function readMaxTokens(members: Members, others: UnmappedField[]): number {
  const value = members.number('max_tokens')
  if (value === undefined) {
    throw invalid('max_tokens', 'required: the most tokens that the answer may have')
  }
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalid('max_tokens', `expected an integer of 0 or more, got ${value}`)
  }
  if (value === 0) {
    others.push({
      path: 'max_tokens',
      verdict: 'refuse',
      reason: '0 asks to fill a cache without an answer, which the other formats cannot',
    })
  }
  return value
}

function readStop(members: Members): string[] {
  return (members.list('stop_sequences') ?? []).map((sequence, at) => {
    if (typeof sequence === 'string') return sequence
    throw wrong(`stop_sequences[${at}]`, 'a string', sequence)
  })
}

function readUserId(members: Members, others: UnmappedField[]): string | undefined {
  const value = members.object('metadata')
  if (value === undefined) return undefined
  const metadata = new Members(value, 'metadata')
  const userId = metadata.text('user_id')
  metadata.rest(others)
  if (userId === undefined || !agentUserId.test(userId)) return userId
  others.push({
    path: 'metadata.user_id',
    verdict: 'drop',
    reason: 'it holds ids of device, account and session, which are not for other vendors',
  })
  return undefined
}

/** What coding agents of this vendor send: a JSON object, or hashes and ids in one word. */
const agentUserId = /^\s*\{|^user_[0-9a-f]{16,}_account_/

/** In the words of the formats that have one. */
function readServiceTier(members: Members): string | undefined {
  const tier = members.text('service_tier')
  return tier === 'standard_only' ? 'default' : tier
}

/** Members that only this vendor has. */
function readVendorFields(members: Members, others: UnmappedField[]): void {
  members.drop(others, {
    cache_control: 'other formats cache without being asked',
    context_management: 'other formats do not edit the context',
    diagnostics: 'only this vendor tells diagnostics',
    speed: 'other formats have no speed mode',
    betas: 'betas are this vendor’s own',
    fallbacks: 'only this vendor falls back to other models of its own',
    fallback_credit_token: 'only this vendor has it',
    billing_policy: 'only this vendor has it',
  })
  for (const [name, reason] of Object.entries(refusals)) {
    const value = members.any(name)
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    others.push({ path: name, verdict: 'refuse', reason })
  }
  const geo = members.text('inference_geo')
  if (geo !== undefined) {
    others.push({
      path: 'inference_geo',
      verdict: geo === 'global' ? 'drop' : 'refuse',
      reason: 'other formats cannot say where the model has to run',
    })
  }
}

const refusals: Readonly<Record<string, string>> = {
  mcp_servers: 'only a channel of this format reaches MCP servers for the model',
  container: 'containers are kept by this vendor and mean nothing to others',
  thread: 'threads are kept by this vendor and mean nothing to others',
  compaction: 'only a channel of this format compacts the context',
}
