import type { ChatRequest, ReasoningOptions } from '../canonical/chat.ts'
import { canTurnThinkingOff, type Traits } from '../canonical/traits.ts'
import type { Notes } from './notes.ts'

/** What a model takes only in a request without thinking. `reasoning` is what it will be asked for. */
export function fitWhileThinking(request: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const reasoning = withoutThinkingBesideTools(request, traits, notes)
  return { reasoning, ...withoutSampling({ ...request, reasoning }, traits, notes) }
}

/** Tools are worth more than thoughts. */
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
    notes.add('mapped', path, 'the effort is "none": the model takes no tools while it thinks')
  else notes.dropField('reasoning', 'the model takes no tools while it thinks')
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
    if (value === 1) notes.add('mapped', notes.pathOf(field), 'left out: it says the default')
    else notes.dropField(field, 'the model takes it only in a request in which it does not think')
  }
  return { temperature: undefined, topP: undefined }
}

/** A request that does not mention it may make a model think whose default is unknown. */
function thinks(reasoning: ReasoningOptions | undefined, { effortDefault }: Traits): boolean {
  if (reasoning?.budgetTokens === 0) return false
  return (reasoning?.effort ?? effortDefault) !== 'none'
}
