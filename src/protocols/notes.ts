import type { ChatField, ChatRequest, TranslationNote, UnmappedField } from '../canonical/chat.ts'
import { type GatewayError, gatewayError } from '../canonical/error.ts'

/** Collects the notes of one translation of a request. */
export class Notes {
  readonly list: TranslationNote[] = []
  readonly #names: ChatRequest['names']

  /**
   * Adds the request's unmapped fields as notes. Throws GatewayError `unsupported_parameter` for a field that
   * must not be dropped.
   */
  constructor(request: Pick<ChatRequest, 'names' | 'unmapped'>) {
    this.#names = request.names
    for (const other of request.unmapped) this.other(other)
  }

  /** The client's own name for a member of the request. */
  pathOf(field: ChatField): string {
    return this.#names[field] ?? field
  }

  add(action: TranslationNote['action'], path: string, reason: string): void {
    this.list.push({ path, action, reason })
  }

  /** Notes that the translation drops a member. */
  dropField(field: ChatField, reason: string): void {
    this.add('dropped', this.pathOf(field), reason)
  }

  other({ path, verdict, reason, refusal }: UnmappedField): void {
    if (verdict === 'refuse') throw refused(path, reason, refusal)
    this.add(verdict === 'map' ? 'mapped' : 'dropped', path, reason)
  }
}

/** The error for a part of the request that the translation must not drop. */
export function refused(path: string, reason: string, refusal?: UnmappedField['refusal']): GatewayError {
  return gatewayError('not_translatable', { path, problem: reason }, { field: path, ...refusal })
}
