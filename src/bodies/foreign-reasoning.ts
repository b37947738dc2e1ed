import type { TranslationNote } from '../canonical/chat.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { notOurs, summaryText } from '../protocols/compacted.ts'
import { type Envelope, type RemovedKind, withoutEnvelopes } from '../protocols/envelope.ts'

/**
 * Returns a body without the reasoning and web searches of other channels, which the client got in our
 * envelopes, and with the text of conversations that this gateway compacted. Throws `invalid_request` for a
 * conversation that it did not compact.
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
      reason: 'replaced with the summary of a conversation that this gateway compacted',
    })
    return { type: 'message', role: 'user', content: summaryText(summary) }
  })
  return { json: isRecord(json) ? json : {}, notes }
}

const reasons: Readonly<Record<RemovedKind, string>> = {
  reasoning: 'reasoning sealed by a model on another channel',
  search: 'a web search by another vendor; the text after it contains the results',
  citation: 'a source found by another vendor',
}
