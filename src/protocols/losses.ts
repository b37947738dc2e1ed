import type { TranslationNote } from '../canonical/chat.ts'

/** Collects the parts of an answer that have no place in canonical events: one note for each kind of part. */
export class Losses {
  readonly #reasons = new Map<string, string>()

  get hasAny(): boolean {
    return this.#reasons.size > 0
  }

  /** `part`: its place in the upstream's answer. */
  add(part: string, reason: string): void {
    this.#reasons.set(`answer.${part}`, reason)
  }

  /** The member `losses` of a `finish` event; empty without losses. */
  member(): { losses?: TranslationNote[] } {
    if (!this.hasAny) return {}
    return { losses: [...this.#reasons].map(([path, reason]) => ({ path, action: 'dropped', reason })) }
  }
}

/** The reason for pictures and sound that an answer loses. */
export const noMedia = 'other formats have only text in their answers'
export const noSuchCall = 'a call of this form cannot be written anew'
export const noSourceUrl = 'other formats cite only sources with a URL'
