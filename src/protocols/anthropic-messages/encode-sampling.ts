import type { ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'

/**
 * Encodes `temperature`, `top_p` and `top_k`. A value that cannot be sent but equals the vendor's default is
 * left out without a note.
 */
export function encodeSampling(
  request: ChatRequest,
  { traits, upstreamModel }: EncodeContext,
  isThinking: boolean,
  notes: Notes,
): Json {
  const takes = traits.takes ?? {}
  const none = `the model ${upstreamModel} does not support it`
  const { temperature, topP, topK } = request
  const sampling: Json = {}
  if (temperature !== undefined) {
    const most = traits.temperatureMax ?? 1
    if (takes.temperature === false) {
      if (temperature !== 1) notes.dropField('temperature', none)
    } else if (isThinking) {
      if (temperature !== 1)
        notes.dropField('temperature', 'the Messages format does not allow it with thinking')
    } else if (temperature > most) {
      notes.add('clamped', notes.pathOf('temperature'), `the Messages format allows at most ${most}`)
      sampling.temperature = most
    } else sampling.temperature = temperature
  }
  if (topP !== undefined) {
    if (takes.topP === false) {
      if (topP !== 1) notes.dropField('topP', none)
    } else if (temperature !== undefined && topP !== 1 && traits.temperatureWithTopP !== true) {
      notes.dropField('topP', 'models of the Messages format accept either temperature or top_p, not both')
    } else if (isThinking && topP < thinkingTopPMin) {
      notes.dropField('topP', `the Messages format requires at least ${thinkingTopPMin} with thinking`)
    } else if (topP !== 1 || temperature === undefined) sampling.top_p = topP
  }
  if (topK !== undefined) {
    if (takes.topK === false) notes.dropField('topK', none)
    else if (isThinking) notes.dropField('topK', 'the Messages format does not allow it with thinking')
    else sampling.top_k = topK
  }
  return sampling
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11-21 */
const thinkingTopPMin = 0.95
