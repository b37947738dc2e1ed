import type { ChatEvent } from '../../canonical/event.ts'
import { countOf, isRecord, textOf } from '../../canonical/json.ts'
import { refined } from '../../canonical/price-parts.ts'
import { missingCount, type Usage } from '../../canonical/usage.ts'
import { decodeStreamError } from '../openai-errors.ts'
import type { ClientSide, EventDecoder } from '../protocol.ts'
import { watchByDecoding } from '../watch.ts'
import { watchResponse } from './watch-response.ts'

/**
 * Watches speech: `speech.audio.delta` events and a `speech.audio.done` with the usage. A JSON document is an
 * error, or an answer of another vendor's own form, which has no choices.
 *
 * https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event, read 2026-11-29
 */
export const speech: NonNullable<ClientSide['bytes']> = {
  watchResponse(body) {
    const { none, ...observed } = watchResponse(body)
    return none === undefined || none.reason === 'upstream_answer_unreadable'
      ? observed
      : { ...observed, none }
  },
  watchStream: (options) => watchByDecoding(() => new SpeechDecoder(), options),
}

class SpeechDecoder implements EventDecoder {
  push(data: string): ChatEvent[] {
    const event: unknown = JSON.parse(data)
    if (!isRecord(event)) return []
    if (event.error) return [{ type: 'error', error: decodeStreamError(event.error) }]
    switch (event.type) {
      case 'speech.audio.delta':
        // Only its size counts: it shows that some of the answer arrived.
        return [{ type: 'block-delta', index: 0, delta: { type: 'text', text: textOf(event.audio) ?? '' } }]
      case 'speech.audio.done': {
        const usage = usageOf(event.usage)
        return [{ type: 'finish', reason: 'stop', upstreamReason: undefined, stopSequence: undefined, usage }]
      }
      default:
        return []
    }
  }

  /** An answer without `speech.audio.done` is not complete. */
  end(): ChatEvent[] {
    return []
  }
}

/** All output of the model is audio. */
function usageOf(usage: unknown): Usage | undefined {
  if (!isRecord(usage)) return undefined
  const [total, input, output] = [usage.total_tokens, usage.input_tokens, usage.output_tokens].map(countOf)
  const read = input ?? missingCount(total, output)
  const written = output ?? missingCount(total, input)
  if (read === undefined || written === undefined) return undefined
  return {
    input: read,
    cacheRead: 0,
    cacheWrite: 0,
    output: written,
    reasoning: 0,
    ...refined({ audioOutput: written }),
  }
}
