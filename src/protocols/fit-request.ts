import type { ChatRequest, Turn } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { continueInstruction } from './continue-instruction.ts'
import { fitContent } from './fit-content.ts'
import { fitFormat } from './fit-format.ts'
import { fitImageTypes } from './fit-image-types.ts'
import { fitParameters } from './fit-parameters.ts'
import { fitThinking, type ThinkingOptions } from './fit-thinking.ts'
import { fitTools } from './fit-tools.ts'
import { fitWhileThinking } from './fit-while-thinking.ts'
import type { Notes } from './notes.ts'

/**
 * Change a request so that a model takes it. Each function returns the members that it changes, and notes
 * each change. Throws GatewayError `unsupported_parameter` with the client's path for what the model cannot
 * do.
 *
 * `traits`: of the offer, over the defaults of the format.
 */
export function fitRequest(
  request: ChatRequest,
  traits: Traits,
  notes: Notes,
  options: ThinkingOptions = {},
): ChatRequest {
  let fitted: ChatRequest = { ...request, ...fitTools(request, traits, notes) }
  fitted = { ...fitted, ...fitImageTypes(fitted, notes) }
  fitted = { ...fitted, ...fitContent(fitted, traits, notes) }
  fitted = { ...fitted, ...fitPrefill(fitted, traits, notes) }
  fitted = { ...fitted, ...fitParameters(fitted, traits, notes) }
  fitted = { ...fitted, reasoning: fitThinking(fitted, traits, notes, options) }
  fitted = { ...fitted, ...fitWhileThinking(fitted, traits, notes) }
  return { ...fitted, ...fitFormat(fitted, traits, notes) }
}

/**
 * Ask a model that refuses a last assistant turn to continue it. A turn with calls gets results in any case.
 */
function fitPrefill({ turns }: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const last = turns.at(-1)
  if (traits.prefill !== false || last?.role !== 'assistant') return {}
  if (last.blocks.some(({ type }) => type === 'tool-call')) return {}
  const { path } = last
  notes.add(
    'emulated',
    path,
    'the model continues no assistant turn: an instruction asks it to, but its answer may begin anew',
  )
  const asked: Turn = { role: 'user', blocks: [{ type: 'text', text: continueInstruction, path }], path }
  return { turns: [...turns, asked] }
}
