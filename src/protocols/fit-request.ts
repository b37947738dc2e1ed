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
 * Adapts a request to what a model supports. Each function returns the members that it changes and adds a
 * note for each change. Throws GatewayError `unsupported_parameter` with the client's path for parts that the
 * model does not support.
 *
 * `traits`: those of the offer, merged over the defaults of the format.
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
 * Adds an instruction to continue the last assistant turn if the model does not do so natively. A turn with
 * calls is followed by results anyway.
 */
function fitPrefill({ turns }: ChatRequest, traits: Traits, notes: Notes): Partial<ChatRequest> {
  const last = turns.at(-1)
  if (traits.prefill !== false || last?.role !== 'assistant') return {}
  if (last.blocks.some(({ type }) => type === 'tool-call')) return {}
  const { path } = last
  notes.add(
    'emulated',
    path,
    'the model cannot continue an assistant turn: an instruction requests it, but the answer may start over',
  )
  const asked: Turn = { role: 'user', blocks: [{ type: 'text', text: continueInstruction, path }], path }
  return { turns: [...turns, asked] }
}
