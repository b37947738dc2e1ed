import type { ChatRequest } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { Members } from '../members.ts'
import { modelName } from '../model-name.ts'
import type { DecodeContext } from '../protocol.ts'
import { UnmappedFields } from '../unmapped-fields.ts'
import { decodeMessages, decodeSystem } from './decode-messages.ts'
import { decodeOutput } from './decode-output.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'

/**
 * Decodes a `/v1/messages` body for an upstream with another format. Throws GatewayError `invalid_request`
 * with the path of the invalid field.
 */
export function decodeRequest(body: Json, { envelope, memo }: DecodeContext): ChatRequest {
  const unmapped = new UnmappedFields()
  const members = new Members(body, '', unmapped)
  const seenTools = new Set<string>()
  const turns = [...decodeSystem(members), ...decodeMessages(members, { envelope, seenTools, memo })]
  const { tools, webSearch } = decodeTools(members, seenTools)
  const { toolChoice, parallelToolCalls } = decodeToolChoice(members, { tools, webSearch })
  const { reasoning, format, reasoningName, formatName } = decodeOutput(members)
  const request: ChatRequest = {
    model: modelName(members.any('model')),
    stream: members.boolean('stream') ?? false,
    turns,
    tools,
    webSearch,
    toolChoice,
    parallelToolCalls,
    maxOutputTokens: readMaxTokens(members),
    choices: 1,
    temperature: members.number('temperature'),
    topP: members.number('top_p'),
    topK: members.number('top_k'),
    seed: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    logitBias: undefined,
    stop: members.texts('stop_sequences') ?? [],
    logprobs: undefined,
    reasoning,
    format,
    verbosity: undefined,
    userId: readUserId(members),
    metadata: undefined,
    serviceTier: readServiceTier(members),
    store: undefined,
    cacheKey: undefined,
    unmapped: unmapped.list,
    names: { ...names, reasoning: reasoningName, format: formatName },
  }
  noteVendorFields(members)
  members.noteRest(losses)
  return request
}

const names: ChatRequest['names'] = {
  maxOutputTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
  userId: 'metadata.user_id',
  serviceTier: 'service_tier',
}

function readMaxTokens(members: Members): number {
  const value = members.integer('max_tokens', 0)
  if (value === undefined) throw invalid('max_tokens', 'required: set the maximum number of output tokens')
  if (value === 0)
    members.refuse(
      'max_tokens',
      '0 only fills the cache without producing an answer, which other formats do not support',
    )
  return value
}

function readUserId(members: Members): string | undefined {
  const metadata = members.members('metadata')
  const userId = metadata?.text('user_id')
  metadata?.noteRest()
  if (userId === undefined || !agentUserId.test(userId)) return userId
  metadata?.drop(
    'user_id',
    'it contains ids of a device, account and session, which are not sent to other vendors',
  )
  return undefined
}

/** User ids sent by this vendor's coding agents: a JSON object, or one word with hashes and ids. */
const agentUserId = /^\s*\{|^user_[0-9a-f]{16,}_account_/

/** The service tier in the terms of the other formats. */
function readServiceTier(members: Members): string | undefined {
  const tier = members.text('service_tier')
  return tier === 'standard_only' ? 'default' : tier
}

/** Members that only this vendor supports and that the client's request depends on. */
function noteVendorFields(members: Members): void {
  members.refuse('container', 'containers are stored at this vendor and unknown to others')
  members.refuse('thread', 'threads are stored at this vendor and unknown to others', noThread)
  members.refuse('compaction', 'only channels in this format can compact the context')
  const servers = members.any('mcp_servers')
  if (!Array.isArray(servers) || servers.length > 0)
    members.refuse('mcp_servers', 'only channels in this format can connect the model to MCP servers')
  const isAnywhere = members.text('inference_geo') === 'global'
  members[isAnywhere ? 'drop' : 'refuse']('inference_geo', 'other formats cannot select where the model runs')
}

/**
 * The tool runners of the vendor's SDKs request threads by default and continue without one if they receive
 * these error details: `ThreadState` in @anthropic-ai/sdk 1.12, `ThreadUnsupportedRequestError` in its types.
 */
const noThread = { code: 'thread_unsupported_request', details: { unsupported: ['thread'] } }

/** Members that only this vendor supports and that the answer does not depend on. */
const losses: Readonly<Record<string, string>> = {
  cache_control: 'other formats cache automatically',
  context_management: 'other formats do not support context editing',
  diagnostics: 'only this vendor sends diagnostics',
  speed: 'other formats have no speed setting',
  betas: 'betas are specific to this vendor',
  fallbacks: 'only this vendor can fall back to its own other models',
  fallback_credit_token: 'only this vendor supports it',
  billing_policy: 'only this vendor supports it',
}
