import type { TranslationNote } from '../canonical/chat.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { notOurs, summaryText } from '../protocols/compacted.ts'
import { type Envelope, type RemovedKind, withoutEnvelopes } from '../protocols/envelope.ts'

/**
 * A body without the reasoning and the web searches that other channels gave this client with our envelopes,
 * and with the text of conversations that this gateway compacted. Throws `invalid_request` for one that it
 * did not compact.
 */
export function withoutForeignReasoning(
  body: Json,
  envelope: Pick<Envelope, 'openSummary'>,
): { json: Json; notes: TranslationNote[] } {
  const notes: TranslationNote[] = []
  const onRemoved = (path: string, what: RemovedKind) => {
    notes.push({ path, action: 'dropped', reason: reasons[what] })
  }
  const json = withoutEnvelopes(body, '', onRemoved, (path, sealed) => {
    const summary = envelope.openSummary(sealed)
    if (summary === undefined) throw invalid(path, notOurs)
    notes.push({
      path,
      action: 'emulated',
      reason: 'the summary of a conversation that this gateway compacted',
    })
    return { type: 'message', role: 'user', content: summaryText(summary) }
  })
  return { json: isRecord(json) ? json : {}, notes }
}

const reasons: Readonly<Record<RemovedKind, string>> = {
  reasoning: 'reasoning that a model of another channel has sealed',
  search: 'a web search of another vendor; the text after it has the results',
  citation: 'a source that another vendor found',
}
