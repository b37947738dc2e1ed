import type { TranslationNote } from '../canonical/chat.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { withoutEnvelopes } from '../protocols/envelope.ts'

/** A body without the reasoning that other channels gave this client in our envelopes. */
export function withoutForeignReasoning(body: Json): { json: Json; notes: TranslationNote[] } {
  const notes: TranslationNote[] = []
  const json = withoutEnvelopes(body, '', (path) => {
    notes.push({ path, action: 'dropped', reason: 'reasoning that a model of another channel has sealed' })
  })
  return { json: isRecord(json) ? json : {}, notes }
}
