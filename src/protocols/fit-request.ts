import type { ChatRequest } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { fitContent } from './fit-content.ts'
import { fitFormat } from './fit-format.ts'
import { fitImageTypes } from './fit-image-types.ts'
import { fitParameters } from './fit-parameters.ts'
import { fitPrefill } from './fit-prefill.ts'
import { fitThinking, type ThinkingOptions } from './fit-thinking.ts'
import { fitTools } from './fit-tools.ts'
import { fitWhileThinking } from './fit-while-thinking.ts'
import type { Notes } from './notes.ts'

/**
 * Change a request so that a model takes it. Each function returns the members that it changes, and notes each change.
 * Throws GatewayError `unsupported_parameter` with the client's path for what the model cannot do.
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
