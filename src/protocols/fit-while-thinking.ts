import type { ChatRequest, ReasoningOptions } from '../canonical/chat.ts'
import { canTurnThinkingOff, type Traits } from '../canonical/traits.ts'
import type { Notes } from './notes.ts'

/**
 * Removes what a model supports only without thinking. The returned `reasoning` is what the model will be
 * sent.
 */
export function fitWhileThinking(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const reasoning = withoutThinkingBesideTools(request, traits, notes)
  return { reasoning, ...withoutSampling({ ...request, reasoning }, traits, notes) }
}

/** Tools take priority over thinking. */
function withoutThinkingBesideTools(
  { tools, reasoning }: ChatRequest,
  traits: Traits,
  notes: Notes,
): ReasoningOptions | undefined {
  const hasTools = tools.some(({ type }) => type !== 'hosted')
  if (traits.toolsWhileThinking !== false || !hasTools || !thinks(reasoning, traits)) return reasoning
  if (!canTurnThinkingOff(traits)) return reasoning
  const path = notes.pathOf('reasoning')
  if (reasoning === undefined)
    notes.add('mapped', path, 'the effort is set to "none": the model does not support tools with thinking')
  else notes.dropField('reasoning', 'the model does not support tools with thinking')
  return { effort: 'none', budgetTokens: undefined, summary: undefined }
}

function withoutSampling(
  { reasoning, temperature, topP }: ChatRequest,
  traits: Traits,
  notes: Notes,
): Partial<ChatRequest> {
  if (traits.samplingWhileThinking !== false || !thinks(reasoning, traits)) return {}
  for (const [field, value] of [
    ['temperature', temperature],
    ['topP', topP],
  ] as const) {
    if (value === undefined) continue
    if (value === 1) notes.add('mapped', notes.pathOf(field), 'left out: the value is the default')
    else notes.dropField(field, 'the model supports it only without thinking')
  }
  return { temperature: undefined, topP: undefined }
}

/** A request that does not mention thinking may still make a model think if its default is unknown. */
function thinks(reasoning: ReasoningOptions | undefined, { effortDefault }: Traits): boolean {
  if (reasoning?.budgetTokens === 0) return false
  return (reasoning?.effort ?? effortDefault) !== 'none'
}
