import { type ReasoningEffort, reasoningEfforts } from '../canonical/chat.ts'
import type { OptionalParameter, Traits } from '../canonical/traits.ts'
import { encryptedReasoning } from '../protocols/added-members.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { RefusedMember } from './refused-members.ts'
import { isSent, type SentMembers } from './sent-members.ts'

/** What a refusal says about an offer. */
export interface TraitChange {
  /**
   * The refused member, with its value where only that was refused: `temperature`, `reasoning_effort=none`.
   */
  subject: string
  traits: Traits
}

/**
 * The trait that follows from a refused member of a request that we translated. Undefined: the member was not
 * sent, or a request without it would mean something else, such as one without its tools or its schema.
 */
export function traitChange(
  protocol: ProtocolName,
  refused: RefusedMember,
  sent: SentMembers,
  known: Traits,
): TraitChange | undefined {
  const member = sentPath(protocol, refused.member)
  const traits =
    own(special, member)?.({ protocol, refused, sent, known }) ?? parameterChange(protocol, member, sent)
  if (traits === undefined) return undefined
  const value = traits.effortLevels === undefined ? undefined : effortSent(sent)
  return { subject: value === undefined ? member : `${member}=${value}`, traits }
}

/** Gemini's members are in `generationConfig`, and its refusals name them without it. */
function sentPath(protocol: ProtocolName, member: string): string {
  return protocol === 'gemini' ? member.replace(/^generation_config\./, '') : member
}

function parameterChange(protocol: ProtocolName, member: string, sent: SentMembers): Traits | undefined {
  const parameter =
    (protocol === 'anthropic-messages' ? own(ofMessages, member) : undefined) ?? own(parameters, member)
  if (parameter === undefined || !isSent(sent, member)) return undefined
  return { takes: { [parameter]: false } }
}

/**
 * Members that may be left out, as refusals name them. Not `service_tier`: another tier has another price.
 */
const parameters: Readonly<Record<string, OptionalParameter>> = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  logit_bias: 'logitBias',
  verbosity: 'verbosity',
  'text.verbosity': 'verbosity',
  store: 'store',
  metadata: 'metadata',
  user: 'userId',
  safety_identifier: 'userId',
  prompt_cache_key: 'cacheKey',
  parallel_tool_calls: 'parallelToolCalls',
  'tool_choice.disable_parallel_tool_use': 'parallelToolCalls',
  stream_options: 'streamOptions',
  'stream_options.include_usage': 'streamOptions',
}

const ofMessages: Readonly<Record<string, OptionalParameter>> = {
  metadata: 'userId',
  'metadata.user_id': 'userId',
}

interface Refusal {
  protocol: ProtocolName
  refused: RefusedMember
  sent: SentMembers
  known: Traits
}

/** Members that the request has in other words when the model does not take these. */
const special: Readonly<Record<string, (refusal: Refusal) => Traits | undefined>> = {
  max_completion_tokens: ({ protocol, sent }) =>
    protocol === 'openai-chat' && 'max_completion_tokens' in sent ? { outputBound: 'max_tokens' } : undefined,
  max_tokens: ({ protocol, sent }) =>
    protocol === 'openai-chat' && 'max_tokens' in sent ? { outputBound: 'max_completion_tokens' } : undefined,
  'temperature+top_p': ({ sent }) =>
    'temperature' in sent && 'top_p' in sent ? { temperatureWithTopP: false } : undefined,
  reasoning_effort: effortChange,
  reasoning: effortChange,
  'reasoning.effort': effortChange,
  include: includeChange,
  thinking: ({ sent }) => ('thinking' in sent ? { thinking: 'none' } : undefined),
  'thinking.type.enabled': ({ sent }) =>
    sent['thinking.type'] === 'enabled' ? { thinking: 'adaptive' } : undefined,
  'thinking.type.adaptive': ({ sent }) =>
    sent['thinking.type'] === 'adaptive' ? { thinking: 'budget' } : undefined,
  'thinking.type.disabled': ({ sent }) =>
    sent['thinking.type'] === 'disabled' ? { thinkingOff: false } : undefined,
  'output_config.effort': (refusal) => {
    if (!('output_config.effort' in refusal.sent)) return undefined
    return refusal.refused.value === undefined ? { thinking: 'budget' } : effortChange(refusal)
  },
  thinking_config: ({ sent }) => (isSent(sent, 'thinking_config') ? { thinking: 'none' } : undefined),
  thinking_level: ({ sent }) =>
    isSent(sent, 'thinking_config.thinking_level') ? { thinking: 'budget' } : undefined,
  'messages.role.developer': inMessages({ developerRole: false }),
  'messages.role.system': inMessages({ severalInstructions: false }),
  'messages.content': inMessages({ textParts: false }),
}

/**
 * Models that do not think have no encrypted thoughts to include. What we added to the bytes of a client is
 * `true`.
 */
function includeChange({ protocol, refused, sent }: Refusal): Traits | undefined {
  if (protocol !== 'openai-responses' || !('include' in sent)) return undefined
  const isThought = refused.value === encryptedReasoning && sent.include !== true
  return isThought ? { thinking: 'none' } : { takes: { include: false } }
}

/** Chat Completions that have their conversation in another form. */
function inMessages(traits: Traits) {
  return ({ protocol, sent }: Refusal) =>
    protocol === 'openai-chat' && 'messages' in sent ? traits : undefined
}

/** The efforts that are left, or no thinking where the model takes none. */
function effortChange({ refused, sent, known }: Refusal): Traits | undefined {
  const value = effortSent(sent)
  if (value === undefined) return isSent(sent, refused.member) ? { thinking: 'none' } : undefined
  if (refused.value === undefined) return { thinking: 'none' }
  if (refused.value.toLowerCase() !== value) return undefined
  const taken = new Set(refused.takes ?? [])
  const listed = reasoningEfforts.filter((effort) => effort !== value && taken.has(effort))
  const effortLevels =
    listed.length > 0 ? listed : (known.effortLevels ?? reasoningEfforts).filter((effort) => effort !== value)
  return effortLevels.length === 0 ? { thinking: 'none' } : { effortLevels }
}

function effortSent(sent: SentMembers): ReasoningEffort | undefined {
  const value = sent.reasoning_effort ?? sent['reasoning.effort'] ?? sent['output_config.effort'] ?? undefined
  return reasoningEfforts.find((effort) => effort === value)
}

/** Upstreams name any word, such as `constructor`. */
function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
