import type { ChatRequest, ReasoningWish } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { budgetOfEffort, effortOfBudget, nearestEffort } from './effort.ts'
import { isForced } from './fit-tools.ts'
import type { Notes } from './notes.ts'

export interface ThinkingOptions {
  /** The format takes a budget of tokens beside words for the effort. */
  takesBudgets?: boolean
}

/** The reasoning that the model can be asked for; undefined: it is told nothing about it. */
export function fitThinking(
  request: ChatRequest,
  traits: Traits,
  notes: Notes,
  { takesBudgets = false }: ThinkingOptions = {},
): ReasoningWish | undefined {
  const wish = thinkingBesideForcedCall(request, traits, notes)
  if (wish === undefined) return undefined
  switch (traits.thinking) {
    case 'none':
      return leaveOut(wish, traits, notes)
    case 'budget':
      return inTokens(wish, traits, notes)
    case 'adaptive':
    case 'effort':
    case undefined:
      return inWords(wish, traits, notes, takesBudgets)
  }
}

/** Some models take no forced call while they think: the call is what the client needs. */
function thinkingBesideForcedCall(
  { reasoning, toolChoice }: ChatRequest,
  { forcedToolsWhileThinking, effortLevels, thinking, thinkingOff }: Traits,
  notes: Notes,
): ReasoningWish | undefined {
  if (forcedToolsWhileThinking !== false || !isForced(toolChoice) || thinking === 'none') return reasoning
  if (reasoning !== undefined && reasoning.effort !== 'none') {
    notes.dropField('reasoning', 'the model does not think while a tool call is forced')
  }
  const canBeOff = thinkingOff !== false && (thinking === 'budget' || effortLevels?.includes('none') === true)
  return canBeOff ? { effort: 'none', budgetTokens: undefined, summary: undefined } : undefined
}

function leaveOut({ effort, budgetTokens }: ReasoningWish, { thinkingOff }: Traits, notes: Notes): undefined {
  // Of these models, some never think, and some always do.
  const asksForNone = thinkingOff !== false && (effort === 'none' || budgetTokens === 0)
  const leavesItOpen = effort === undefined && budgetTokens === undefined
  if (asksForNone || leavesItOpen) {
    notes.add('mapped', notes.pathOf('reasoning'), 'left out: the model takes no word about thinking')
  } else notes.dropField('reasoning', 'the model takes no word about thinking')
  return undefined
}

function inWords(
  wish: ReasoningWish,
  traits: Traits,
  notes: Notes,
  takesBudgets: boolean,
): ReasoningWish | undefined {
  const path = notes.pathOf('reasoning')
  const { budgetTokens } = wish
  let { effort, summary } = wish
  if (budgetTokens !== undefined && effort === undefined) {
    if (takesBudgets) return wish
    effort = effortOfBudget(budgetTokens)
    notes.add('mapped', path, `a budget of ${budgetTokens} tokens is the effort "${effort}"`)
  } else if (budgetTokens !== undefined) {
    notes.dropField('reasoning', 'the effort takes the place of the budget of tokens')
  }
  if (effort === undefined) return { ...wish, budgetTokens: undefined }

  const { effortLevels, thinkingOff } = traits
  const isOff = effort === 'none'
  if (effortLevels === undefined) {
    if (!isOff || thinkingOff !== false) return { effort, budgetTokens: undefined, summary }
    notes.dropField('reasoning', 'the model always thinks')
    return undefined
  }
  const level = nearestEffort(effort, effortLevels)
  if (level === undefined) {
    notes.dropField('reasoning', 'the model cannot be told how much it thinks')
    return undefined
  }
  if (level !== effort) {
    const words = effortLevels.map((word) => `"${word}"`).join(', ')
    notes.add('clamped', path, `the effort is "${level}": the model knows ${words}`)
    // The client wanted no thoughts.
    if (isOff) summary = 'none'
  }
  return { effort: level, budgetTokens: undefined, summary }
}

function inTokens(wish: ReasoningWish, traits: Traits, notes: Notes): ReasoningWish {
  const { effort, budgetTokens } = wish
  const {
    thinkingBudgetMin: least = 0,
    thinkingBudgetMax: most = Number.POSITIVE_INFINITY,
    thinkingOff,
  } = traits
  const wished = budgetTokens ?? (effort === undefined ? undefined : budgetOfEffort(effort))
  if (wished === undefined) return wish
  const isOff = wished === 0 && thinkingOff !== false
  const tokens = isOff ? 0 : Math.min(Math.max(wished, least), most)
  const path = notes.pathOf('reasoning')
  if (tokens !== wished) notes.add('clamped', path, `the model thinks for ${boundsText(least, most)} tokens`)
  else if (budgetTokens === undefined) {
    notes.add('mapped', path, `the model counts thinking in tokens: ${tokens}`)
  }
  return { ...wish, budgetTokens: tokens }
}

function boundsText(least: number, most: number): string {
  return Number.isFinite(most) ? `${least} to ${most}` : `at least ${least}`
}
