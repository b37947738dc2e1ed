import type { ChatRequest, ReasoningEffort, ReasoningOptions } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { effortOfBudget, nearestEffort } from '../effort.ts'
import { thinkingOffNote } from '../fit-thinking.ts'
import { isForced } from '../fit-tools.ts'
import type { Notes } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import type { EncodedTurns } from './encode-turns.ts'

export interface EncodedThinking {
  /** The member `thinking`. */
  thinking?: Json
  /** The member `output_config.effort`. */
  effort?: ReasoningEffort
  /** Whether the model will think. If so, it accepts no sampling parameters. */
  isThinking: boolean
}

type Turns = Pick<EncodedTurns, 'endsWithAssistant' | 'inUnsignedLoop'>

/** Encodes thinking in the way that the model supports: as a token budget, as an effort, or not at all. */
export function encodeThinking(
  request: ChatRequest,
  turns: Turns,
  maxTokens: number,
  context: EncodeContext,
  notes: Notes,
): EncodedThinking {
  const { traits, upstreamModel } = context
  const { reasoning, toolChoice } = request
  const alwaysThinks = traits.thinkingOff === false && traits.thinking !== 'none'
  // A model that thinks by default but does not accept forced calls while thinking needs thinking turned off.
  if (traits.thinkingDefault === true && traits.forcedToolsWhileThinking === false && isForced(toolChoice)) {
    if (reasoning === undefined) notes.add('mapped', notes.pathOf('reasoning'), thinkingOffNote)
    else if (reasoning.effort !== 'none') notes.dropField('reasoning', forcedObstacle)
    return { thinking: { type: 'disabled' }, isThinking: false }
  }
  if (reasoning === undefined) return { isThinking: alwaysThinks }
  if (traits.thinking === 'none') {
    if (reasoning.effort !== 'none')
      notes.dropField('reasoning', `the model ${upstreamModel} has no thinking parameters`)
    return { isThinking: false }
  }
  if (reasoning.effort === 'none') return encodeOff(alwaysThinks, context, notes)
  switch (traits.thinking) {
    case 'adaptive':
      return { isThinking: alwaysThinks, ...encodeAdaptive(request, reasoning, turns, context, notes) }
    case 'effort':
      return { isThinking: true, ...encodeEffort(reasoning, context, notes) }
    default:
      return {
        isThinking: alwaysThinks,
        ...encodeBudget(request, reasoning, turns, maxTokens, context, notes),
      }
  }
}

/** A model that always thinks is set to its lowest effort. */
function encodeOff(
  alwaysThinks: boolean,
  { traits, upstreamModel }: EncodeContext,
  notes: Notes,
): EncodedThinking {
  if (!alwaysThinks) return { thinking: { type: 'disabled' }, isThinking: false }
  const least = traits.effortLevels?.find((level) => level !== 'none')
  const path = notes.pathOf('reasoning')
  if (least === undefined) {
    notes.add('dropped', path, `the model ${upstreamModel} always thinks`)
    return { isThinking: true }
  }
  notes.add('clamped', path, `the model ${upstreamModel} always thinks: the effort is set to "${least}"`)
  return { effort: least, isThinking: true }
}

function encodeAdaptive(
  request: ChatRequest,
  reasoning: ReasoningOptions,
  turns: Turns,
  context: EncodeContext,
  notes: Notes,
): Partial<EncodedThinking> {
  const effort = encodeEffort(reasoning, context, notes)
  const obstacle = obstacleOf(request, turns, context)
  if (obstacle !== undefined) {
    notes.dropField('reasoning', obstacle)
    return effort
  }
  // These models show thinking only on request.
  const display = reasoning.summary === 'none' ? 'omitted' : 'summarized'
  return { ...effort, thinking: { type: 'adaptive', display }, isThinking: true }
}

function encodeEffort(
  { effort, budgetTokens }: ReasoningOptions,
  { traits, upstreamModel }: EncodeContext,
  notes: Notes,
): Partial<EncodedThinking> {
  const wanted = effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens))
  if (wanted === undefined) return {}
  const path = notes.pathOf('reasoning')
  const nearest = nearestEffort(wanted, traits.effortLevels ?? commonEfforts)
  if (nearest === undefined) {
    notes.add(
      'dropped',
      path,
      `the model ${upstreamModel} has no effort setting: it decides itself how much to think`,
    )
    return {}
  }
  if (effort === undefined) {
    notes.add(
      'mapped',
      path,
      `the model ${upstreamModel} has no thinking budget: the effort is set to "${nearest}"`,
    )
  } else if (nearest !== effort) {
    notes.add('clamped', path, `the model ${upstreamModel} has no effort "${effort}": set to "${nearest}"`)
  }
  return { effort: nearest }
}

/**
 * The efforts that every model with an effort setting supports:
 * https://platform.claude.com/docs/en/build-with-claude/effort, read 2026-11-22
 */
const commonEfforts: readonly ReasoningEffort[] = ['low', 'medium', 'high']

function encodeBudget(
  request: ChatRequest,
  { effort, budgetTokens, summary }: ReasoningOptions,
  turns: Turns,
  maxTokens: number,
  context: EncodeContext,
  notes: Notes,
): Partial<EncodedThinking> {
  const path = notes.pathOf('reasoning')
  const wanted = budgetTokens ?? (effort === undefined || effort === 'none' ? undefined : budgets[effort])
  if (wanted === undefined) {
    if (summary === undefined) notes.add('mapped', path, 'the model decides itself whether to think')
    else {
      notes.dropField('reasoning', 'the Messages format shows thinking only if an effort or a budget is set')
    }
    return {}
  }
  const least = Math.max(budgetMin, context.traits.thinkingBudgetMin ?? 0)
  const most = Math.min(budgetMax(maxTokens), context.traits.thinkingBudgetMax ?? Number.POSITIVE_INFINITY)
  const obstacle =
    most < least
      ? `the Messages format requires at least ${least} tokens for thinking, but the answer is limited to ${maxTokens}`
      : (obstacleOf(request, turns, context) ?? loopObstacle(turns))
  if (obstacle !== undefined) {
    notes.dropField('reasoning', obstacle)
    return {}
  }
  const budget = Math.min(Math.max(wanted, least), most)
  if (budgetTokens === undefined)
    notes.add('mapped', path, `effort "${effort}" becomes a budget of ${budget} tokens`)
  else if (budget !== budgetTokens) notes.add('clamped', path, `the budget is set to ${budget} tokens`)
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

/** Thinking counts towards `max_tokens`. A quarter of it is reserved for the answer. */
function budgetMax(maxTokens: number): number {
  return Math.floor((maxTokens * 3) / 4)
}

const forcedObstacle = 'the Messages format does not allow thinking with a forced tool call'

/** Why the vendor would refuse thinking in this request; undefined if it would not. */
function obstacleOf(
  { toolChoice }: ChatRequest,
  turns: Turns,
  { traits }: EncodeContext,
): string | undefined {
  if (traits.forcedToolsWhileThinking !== true && isForced(toolChoice)) {
    return forcedObstacle
  }
  if (turns.endsWithAssistant)
    return 'the Messages format does not allow thinking if the request contains the beginning of the answer'
  return undefined
}

/**
 * Applies only to thinking with a budget. With `adaptive`, earlier turns do not have to begin with thinking.
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read 2026-11-22
 */
function loopObstacle({ inUnsignedLoop }: Turns): string | undefined {
  return inUnsignedLoop
    ? 'the Messages format allows thinking in a tool loop only after thinking that was signed by this model'
    : undefined
}
