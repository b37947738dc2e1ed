import type { TranslationNote } from '../canonical/chat.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { type RemovedPart, withoutEnvelopes } from '../protocols/envelope.ts'

/** A body without the reasoning and the web searches that other channels gave this client with our envelopes. */
export function withoutForeignReasoning(body: Json): { json: Json; notes: TranslationNote[] } {
  const notes: TranslationNote[] = []
  const json = withoutEnvelopes(body, '', (path, what) => {
    notes.push({ path, action: 'dropped', reason: reasons[what] })
  })
  return { json: isRecord(json) ? json : {}, notes }
}

const reasons: Readonly<Record<RemovedPart, string>> = {
  reasoning: 'reasoning that a model of another channel has sealed',
  search: 'a web search of another vendor; the text after it has the results',
  citation: 'a source that another vendor found',
}
