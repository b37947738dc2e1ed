import type { ChatField, ChatRequest, TranslationNote, UnmappedField } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'

/** Collects what became of a request while it is written in another format. */
export class Notes {
  readonly list: TranslationNote[] = []
  readonly #names: ChatRequest['names']

  /** Takes up what the client's own format has and no other: notes it, or throws where it may not be lost. */
  constructor(request: Pick<ChatRequest, 'names' | 'unmapped'>) {
    this.#names = request.names
    for (const other of request.unmapped) this.other(other)
  }

  /** The client's own name of a member of the request. */
  pathOf(field: ChatField): string {
    return this.#names[field] ?? field
  }

  add(action: TranslationNote['action'], path: string, reason: string): void {
    this.list.push({ path, action, reason })
  }

  /** Note that a member that the client set is lost. */
  dropField(field: ChatField, reason: string): void {
    this.add('dropped', this.pathOf(field), reason)
  }

  other({ path, verdict, reason }: UnmappedField): void {
    if (verdict === 'refuse') throw refused(path, reason)
    this.add(verdict === 'map' ? 'mapped' : 'dropped', path, reason)
  }
}

/** What cannot be left out without changing what the client asked for. */
export function refused(path: string, reason: string): GatewayError {
  return new GatewayError('unsupported_parameter', `${path}: ${reason}`, { field: path })
}
