import type { ChatRequest, ReasoningOptions } from '../canonical/chat.ts'
import { canTurnThinkingOff, type Traits } from '../canonical/traits.ts'
import { budgetOfEffort, effortOfBudget, nearestEffort } from './effort.ts'
import { isForced } from './fit-tools.ts'
import type { Notes } from './notes.ts'

export interface ThinkingOptions {
  /** Whether the format supports token budgets in addition to efforts. */
  takesBudgets?: boolean
}

/** The reasoning to request from the model; undefined if nothing is requested. */
export function fitThinking(
  request: ChatRequest,
  traits: Traits,
  notes: Notes,
  { takesBudgets = false }: ThinkingOptions = {},
): ReasoningOptions | undefined {
  const reasoning = thinkingBesideForcedCall(request, traits, notes)
  if (reasoning === undefined) return undefined
  switch (traits.thinking) {
    case 'none':
      return leaveOut(reasoning, traits, notes)
    case 'budget':
      return inTokens(reasoning, traits, notes)
    case 'switch':
      return onOrOff(reasoning, traits, notes)
    case 'adaptive':
    case 'effort':
    case undefined:
      return inWords(reasoning, traits, notes, takesBudgets)
  }
}

/**
 * Some models do not support forced calls while thinking. The call takes priority, because the client needs
 * it.
 */
function thinkingBesideForcedCall(
  { reasoning, toolChoice }: ChatRequest,
  traits: Traits,
  notes: Notes,
): ReasoningOptions | undefined {
  const { forcedToolsWhileThinking, thinking, thinkingDefault } = traits
  if (forcedToolsWhileThinking !== false || !isForced(toolChoice) || thinking === 'none') return reasoning
  const turnsOff = canTurnThinkingOff(traits)
  if (reasoning !== undefined && reasoning.effort !== 'none') {
    notes.dropField('reasoning', 'the model does not support thinking with a forced tool call')
  } else if (reasoning === undefined && turnsOff) {
    if (thinkingDefault === false) return undefined
    notes.add('mapped', notes.pathOf('reasoning'), thinkingOffNote)
  }
  return turnsOff ? noThinking : undefined
}

/** The note for a request that does not mention thinking. */
export const thinkingOffNote =
  'thinking is turned off: the model does not support forced tool calls with thinking'

const noThinking: ReasoningOptions = { effort: 'none', budgetTokens: undefined, summary: undefined }

function leaveOut(
  { effort, budgetTokens }: ReasoningOptions,
  { thinkingOff }: Traits,
  notes: Notes,
): undefined {
  // Some of these models never think, and some always do.
  const asksForNone = thinkingOff !== false && (effort === 'none' || budgetTokens === 0)
  const leavesItOpen = effort === undefined && budgetTokens === undefined
  if (asksForNone || leavesItOpen) {
    notes.add('mapped', notes.pathOf('reasoning'), 'left out: the model has no thinking parameters')
  } else notes.dropField('reasoning', 'the model has no thinking parameters')
  return undefined
}

/** Returns the effort `none`, or `medium` for a model whose thinking can only be turned on or off. */
function onOrOff(reasoning: ReasoningOptions, traits: Traits, notes: Notes): ReasoningOptions | undefined {
  const effort =
    reasoning.effort ??
    (reasoning.budgetTokens === undefined ? undefined : effortOfBudget(reasoning.budgetTokens))
  if (effort === undefined) return reasoning
  if (effort !== 'none') {
    notes.add('clamped', notes.pathOf('reasoning'), 'thinking can only be turned on or off for this model')
  } else if (traits.thinkingOff === false) {
    notes.dropField('reasoning', 'the model always thinks')
    return undefined
  }
  return { ...reasoning, effort: effort === 'none' ? effort : 'medium', budgetTokens: undefined }
}

function inWords(
  reasoning: ReasoningOptions,
  traits: Traits,
  notes: Notes,
  takesBudgets: boolean,
): ReasoningOptions | undefined {
  const path = notes.pathOf('reasoning')
  const { budgetTokens } = reasoning
  let { effort, summary } = reasoning
  if (budgetTokens !== undefined && effort === undefined) {
    if (takesBudgets) return reasoning
    effort = effortOfBudget(budgetTokens)
    notes.add('mapped', path, `a budget of ${budgetTokens} tokens becomes the effort "${effort}"`)
  } else if (budgetTokens !== undefined) {
    notes.dropField('reasoning', 'the effort replaces the token budget')
  }
  if (effort === undefined) return { ...reasoning, budgetTokens: undefined }

  const { effortLevels, thinkingOff } = traits
  const isOff = effort === 'none'
  if (isOff && canTurnThinkingOff(traits)) return { effort, budgetTokens: undefined, summary }
  if (effortLevels === undefined) {
    if (!isOff || thinkingOff !== false) return { effort, budgetTokens: undefined, summary }
    notes.dropField('reasoning', 'the model always thinks')
    return undefined
  }
  const level = nearestEffort(effort, effortLevels)
  if (level === undefined) {
    notes.dropField('reasoning', 'the model has no setting for the amount of thinking')
    return undefined
  }
  if (level !== effort) {
    const words = effortLevels.map((word) => `"${word}"`).join(', ')
    notes.add('clamped', path, `the effort is set to "${level}": the model supports ${words}`)
    // The client did not want any thinking, so none is shown.
    if (isOff) summary = 'none'
  }
  return { effort: level, budgetTokens: undefined, summary }
}

function inTokens(reasoning: ReasoningOptions, traits: Traits, notes: Notes): ReasoningOptions {
  const { effort, budgetTokens } = reasoning
  const {
    thinkingBudgetMin: least = 0,
    thinkingBudgetMax: most = Number.POSITIVE_INFINITY,
    thinkingOff,
  } = traits
  const wanted = budgetTokens ?? (effort === undefined ? undefined : budgetOfEffort(effort))
  if (wanted === undefined) return reasoning
  const isOff = wanted === 0 && thinkingOff !== false
  const tokens = isOff ? 0 : Math.min(Math.max(wanted, least), most)
  const path = notes.pathOf('reasoning')
  if (tokens !== wanted)
    notes.add('clamped', path, `the model supports ${boundsText(least, most)} thinking tokens`)
  else if (budgetTokens === undefined) {
    notes.add('mapped', path, `the model uses a token budget for thinking: ${tokens} tokens`)
  }
  return { ...reasoning, budgetTokens: tokens }
}

function boundsText(least: number, most: number): string {
  return Number.isFinite(most) ? `${least} to ${most}` : `at least ${least}`
}
