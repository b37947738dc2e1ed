import { type ReasoningEffort, reasoningEfforts } from '../../canonical/chat.ts'
import type { OptionalParameter, Traits } from '../../canonical/traits.ts'
import { encryptedReasoning } from '../../protocols/added-members.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import type { RefusedMember } from './refused-members.ts'
import { isSent, type SentMembers } from './sent-members.ts'

/** What a refusal reveals about an offer. */
export interface TraitChange {
  /**
   * The refused member, with its value if only that value was refused: `temperature`,
   * `reasoning_effort=none`.
   */
  subject: string
  traits: Traits
}

/**
 * Derives a trait from a refused member of a request that we translated. Undefined if the member was not
 * sent, or if the request would mean something else without it, such as a request without its tools or
 * schema.
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

/** Gemini's members are inside `generationConfig`, but its refusals name them without it. */
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
 * Members that can be left out, as named in refusals. `service_tier` is not one of them, because another tier
 * has another price.
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

/** Members that have an alternative in the request if the model does not support them. */
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
 * Models without thinking have no encrypted reasoning to include. The value `true` means that we added the
 * member to a client's own bytes.
 */
function includeChange({ protocol, refused, sent }: Refusal): Traits | undefined {
  if (protocol !== 'openai-responses' || !('include' in sent)) return undefined
  const isThought = refused.value === encryptedReasoning && sent.include !== true
  return isThought ? { thinking: 'none' } : { takes: { include: false } }
}

/** For refusals that require the conversation of Chat Completions in another form. */
function inMessages(traits: Traits) {
  return ({ protocol, sent }: Refusal) =>
    protocol === 'openai-chat' && 'messages' in sent ? traits : undefined
}

/** The remaining efforts, or no thinking if none remain. */
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

/** Upstreams can name any word, such as `constructor`. */
function own<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
