import type { ChatRequest, ReasoningEffort, ReasoningWish } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { type Notes, refused } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import { isBefore3 } from './wire.ts'

const stopsMax = 5

/** `generationConfig`: https://ai.google.dev/api/generate-content#generationconfig, read 2026-11-21 */
export function encodeConfig(request: ChatRequest, context: EncodeContext, notes: Notes): Json {
  if (request.stop.length > stopsMax) {
    throw refused(notes.pathOf('stop'), `the Gemini format takes at most ${stopsMax} stop sequences`)
  }
  const config: Json = {
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    seed: request.seed,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    maxOutputTokens: request.maxOutputTokens,
    stopSequences: request.stop.length === 0 ? undefined : [...request.stop],
    ...encodeFormat(request, notes),
    thinkingConfig: request.reasoning && encodeThinking(request.reasoning, context.upstreamModel, notes),
  }
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
}

function encodeFormat({ format, toolChoice }: ChatRequest, notes: Notes): Json {
  if (format === undefined) return {}
  // The vendor's error: "Forced function calling (ANY mode) with a response mime type: 'application/json' is
  // unsupported".
  const isForced =
    toolChoice?.type === 'required' ||
    toolChoice?.type === 'tool' ||
    (toolChoice?.type === 'allowed' && toolChoice.mode === 'required')
  if (isForced) {
    throw refused(
      notes.pathOf('format'),
      'the Gemini format takes no JSON format together with a forced tool call',
    )
  }
  if (format.type === 'json_object') return { responseMimeType: 'application/json' }
  const { name, description, schema } = format
  const titled = {
    ...(name === undefined ? {} : { title: name }),
    ...(description === undefined ? {} : { description }),
    ...schema,
  }
  return { responseMimeType: 'application/json', responseJsonSchema: titled }
}

/** https://ai.google.dev/gemini-api/docs/thinking, read 2026-11-21 */
function encodeThinking(wish: ReasoningWish, model: string, notes: Notes): Json {
  const amount = isBefore3(model) ? encodeBudget(wish, model, notes) : encodeLevel(wish, notes)
  const isShown = wish.summary !== 'none' && wish.effort !== 'none'
  if (wish.summary === 'concise' || wish.summary === 'detailed') {
    notes.add('mapped', notes.pathOf('reasoning'), 'the Gemini format has one length of thought summaries')
  }
  return { ...amount, includeThoughts: isShown }
}

function encodeLevel({ effort, budgetTokens }: ReasoningWish, notes: Notes): Json {
  const path = notes.pathOf('reasoning')
  switch (effort) {
    case undefined:
      return budgetTokens === undefined ? {} : { thinkingBudget: budgetTokens }
    case 'none':
    case 'minimal':
      // Most Gemini 3 models refuse MINIMAL, and all of them always think.
      notes.add('clamped', path, 'the least thinking that every Gemini 3 model takes is LOW')
      return { thinkingLevel: 'LOW' }
    case 'low':
      return { thinkingLevel: 'LOW' }
    case 'medium':
      return { thinkingLevel: 'MEDIUM' }
    case 'high':
      return { thinkingLevel: 'HIGH' }
    case 'xhigh':
    case 'max':
      notes.add('clamped', path, 'the most thinking that the Gemini format knows is HIGH')
      return { thinkingLevel: 'HIGH' }
  }
}

/** Tokens of thinking for each effort, for models that count them. */
const budgets: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
}

function encodeBudget({ effort, budgetTokens }: ReasoningWish, model: string, notes: Notes): Json {
  const wished = budgetTokens ?? (effort === undefined ? undefined : budgets[effort])
  if (wished === undefined) return {}
  const path = notes.pathOf('reasoning')
  const isPro = model.includes('pro')
  const least = isPro ? 128 : 0
  const most = isPro ? 32_768 : 24_576
  const thinkingBudget = Math.min(Math.max(wished, least), most)
  if (thinkingBudget !== wished) {
    notes.add('clamped', path, `the model thinks for ${least} to ${most} tokens`)
  } else if (budgetTokens === undefined) {
    notes.add('mapped', path, `the model counts thinking in tokens: ${thinkingBudget}`)
  }
  return { thinkingBudget }
}
