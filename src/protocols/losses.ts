import type { TranslationNote } from '../canonical/chat.ts'

/** Collects the parts of an answer that canonical events cannot represent, with one note per kind of part. */
export class Losses {
  readonly #reasons = new Map<string, string>()

  get hasAny(): boolean {
    return this.#reasons.size > 0
  }

  /** `part`: its path in the upstream's answer. */
  add(part: string, reason: string): void {
    this.#reasons.set(`answer.${part}`, reason)
  }

  /** The `losses` member of a `finish` event; empty if nothing was lost. */
  member(): { losses?: TranslationNote[] } {
    if (!this.hasAny) return {}
    return { losses: [...this.#reasons].map(([path, reason]) => ({ path, action: 'dropped', reason })) }
  }
}

/** The reason for images and audio that are missing from an answer. */
export const noMedia = 'other formats support only text in answers'
export const noSuchCall = 'a call of this form cannot be translated'
export const noSourceUrl = 'other formats cite only sources with a URL'
