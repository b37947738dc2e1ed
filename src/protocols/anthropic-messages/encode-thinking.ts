import type { ChatRequest, ReasoningEffort } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import type { EncodedTurns } from './encode-turns.ts'

/** The member `thinking`. `isThinking`: whether the model will think. */
export function encodeThinking(
  request: ChatRequest,
  turns: EncodedTurns,
  maxTokens: number,
  notes: Notes,
): { thinking: Json | undefined; isThinking: boolean } {
  const off = { thinking: undefined, isThinking: false }
  const { reasoning } = request
  if (reasoning === undefined) return off
  const { effort, budgetTokens, summary } = reasoning
  const path = notes.pathOf('reasoning')
  if (effort === 'none') return { thinking: { type: 'disabled' }, isThinking: false }
  const wished = budgetTokens ?? (effort === undefined ? undefined : budgets[effort])
  if (wished === undefined) {
    if (summary === undefined) notes.add('mapped', path, 'the model itself decides whether it thinks')
    else {
      notes.dropField('reasoning', 'the Messages format shows thinking only with an effort or a budget')
    }
    return off
  }
  const obstacle = obstacleOf(request, turns, maxTokens)
  if (obstacle !== undefined) {
    notes.dropField('reasoning', obstacle)
    return off
  }
  const budget = Math.min(Math.max(wished, budgetMin), budgetMax(maxTokens))
  if (budgetTokens === undefined)
    notes.add('mapped', path, `effort "${effort}" is a budget of ${budget} tokens`)
  else if (budget !== budgetTokens) notes.add('clamped', path, `the budget is ${budget} tokens`)
  const display = summary === undefined ? {} : { display: summary === 'none' ? 'omitted' : 'summarized' }
  return { thinking: { type: 'enabled', budget_tokens: budget, ...display }, isThinking: true }
}

const budgets: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11-21 */
const budgetMin = 1024

/** Thinking counts towards `max_tokens`. A quarter of it stays for the answer. */
function budgetMax(maxTokens: number): number {
  return Math.floor((maxTokens * 3) / 4)
}

/** The reason why the vendor would refuse thinking in this request, if there is one. */
function obstacleOf(request: ChatRequest, turns: EncodedTurns, maxTokens: number): string | undefined {
  if (budgetMax(maxTokens) < budgetMin) {
    return `the Messages format thinks for at least ${budgetMin} tokens, but the answer may have only ${maxTokens}`
  }
  const { toolChoice } = request
  if (
    toolChoice?.type === 'required' ||
    toolChoice?.type === 'tool' ||
    (toolChoice?.type === 'allowed' && toolChoice.mode === 'required')
  ) {
    return 'the Messages format cannot think if a tool is forced'
  }
  if (turns.endsWithAssistant) return 'the Messages format cannot think if the request begins the answer'
  if (turns.inUnsignedLoop) {
    return 'the Messages format thinks on in a tool loop only behind thinking that this model has signed'
  }
  return undefined
}
