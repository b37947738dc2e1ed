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
 * Decode a `/v1/messages` body for an upstream that speaks another format. Throws GatewayError
 * `invalid_request` with the path of the bad field.
 */
export function decodeRequest(body: Json, { envelope }: DecodeContext): ChatRequest {
  const unmapped = new UnmappedFields()
  const members = new Members(body, '', unmapped)
  const seenTools = new Set<string>()
  const turns = [...decodeSystem(members), ...decodeMessages(members, { envelope, seenTools })]
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
  if (value === undefined) throw invalid('max_tokens', 'required: the most tokens that the answer may have')
  if (value === 0)
    members.refuse('max_tokens', '0 only fills a cache, without an answer, which other formats cannot do')
  return value
}

function readUserId(members: Members): string | undefined {
  const metadata = members.members('metadata')
  const userId = metadata?.text('user_id')
  metadata?.noteRest()
  if (userId === undefined || !agentUserId.test(userId)) return userId
  metadata?.drop('user_id', 'it holds ids of device, account and session, which are not for other vendors')
  return undefined
}

/** User ids of this vendor's coding agents: a JSON object, or one word with hashes and ids. */
const agentUserId = /^\s*\{|^user_[0-9a-f]{16,}_account_/

/** The service tier in the words of the other formats. */
function readServiceTier(members: Members): string | undefined {
  const tier = members.text('service_tier')
  return tier === 'standard_only' ? 'default' : tier
}

/** Members that only this vendor has and without which the client would not get what it asked for. */
function noteVendorFields(members: Members): void {
  members.refuse('container', 'containers are kept by this vendor and mean nothing to others')
  members.refuse('thread', 'threads are kept by this vendor and mean nothing to others', noThread)
  members.refuse('compaction', 'only a channel of this format compacts the context')
  const servers = members.any('mcp_servers')
  if (!Array.isArray(servers) || servers.length > 0)
    members.refuse('mcp_servers', 'only a channel of this format reaches MCP servers for the model')
  const isAnywhere = members.text('inference_geo') === 'global'
  members[isAnywhere ? 'drop' : 'refuse']('inference_geo', 'other formats cannot choose where the model runs')
}

/**
 * On these words the tool runners of the vendor's SDKs, which ask for threads by default, go on without one:
 * `ThreadState` in
 * @anthropic-ai/sdk 1.12, `ThreadUnsupportedRequestError` of its types.
 */
const noThread = { code: 'thread_unsupported_request', details: { unsupported: ['thread'] } }

/** Members that only this vendor has and without which the answer is as good. */
const losses: Readonly<Record<string, string>> = {
  cache_control: 'other formats cache without being asked',
  context_management: 'other formats do not edit the context',
  diagnostics: 'only this vendor sends diagnostics',
  speed: 'other formats have no speed mode',
  betas: "betas are this vendor's own",
  fallbacks: 'only this vendor falls back to other models of its own',
  fallback_credit_token: 'only this vendor has it',
  billing_policy: 'only this vendor has it',
}
