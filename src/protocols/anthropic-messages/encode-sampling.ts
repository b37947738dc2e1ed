import type { ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'

/** `temperature`, `top_p` and `top_k`. A value that is the vendor's default is left out in silence. */
export function encodeSampling(
  request: ChatRequest,
  { traits, upstreamModel }: EncodeContext,
  isThinking: boolean,
  notes: Notes,
): Json {
  const takes = traits.takes ?? {}
  const none = `the model ${upstreamModel} takes none`
  const { temperature, topP, topK } = request
  const sampling: Json = {}
  if (temperature !== undefined) {
    const most = traits.temperatureMax ?? 1
    if (takes.temperature === false) {
      if (temperature !== 1) notes.dropField('temperature', none)
    } else if (isThinking) {
      if (temperature !== 1) notes.dropField('temperature', 'the Messages format has none while it thinks')
    } else if (temperature > most) {
      notes.add('clamped', notes.pathOf('temperature'), `the Messages format goes up to ${most}`)
      sampling.temperature = most
    } else sampling.temperature = temperature
  }
  if (topP !== undefined) {
    if (takes.topP === false) {
      if (topP !== 1) notes.dropField('topP', none)
    } else if (temperature !== undefined && topP !== 1 && traits.temperatureWithTopP !== true) {
      notes.dropField('topP', 'models of the Messages format take temperature or top_p, not both')
    } else if (isThinking && topP < thinkingTopPMin) {
      notes.dropField('topP', `the Messages format has none below ${thinkingTopPMin} while it thinks`)
    } else if (topP !== 1 || temperature === undefined) sampling.top_p = topP
  }
  if (topK !== undefined) {
    if (takes.topK === false) notes.dropField('topK', none)
    else if (isThinking) notes.dropField('topK', 'the Messages format has none while it thinks')
    else sampling.top_k = topK
  }
  return sampling
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking, read 2026-11-21 */
const thinkingTopPMin = 0.95
