import type { Block, ReasoningBlock, ToolCallBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { isBefore3 } from './wire.ts'

/**
 * The value that the vendor accepts as the signature of a call by another model.
 * https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
 */
const foreignCallSignature = 'skip_thought_signature_validator'

/**
 * Puts the thought signatures of one turn back on their parts. A signature of a call has the call's id, so
 * its place is known even if a client of another format changes the order of the blocks.
 */
export class ThoughtSignatures {
  readonly #model: string
  readonly #notes: Notes
  readonly #byCall = new Map<string, string>()
  #forText: string | undefined

  constructor(blocks: readonly Block[], context: { upstreamModel: string; notes: Notes }) {
    this.#model = context.upstreamModel
    this.#notes = context.notes
    for (const block of blocks) {
      if (block.type !== 'reasoning' || !isSignedBy(block.signature, 'gemini', this.#model)) continue
      const { id, value } = block.signature
      if (id !== undefined) this.#byCall.set(id, value)
    }
  }

  /** Parts for a thought that is a part of its own. The signature of the next text or call is kept for it. */
  encodeReasoning({ signature, text, path }: ReasoningBlock): Json[] {
    if (!isSignedBy(signature, 'gemini', this.#model)) {
      const reason = signature === undefined ? 'it has no signature' : 'its signature is of another model'
      this.#notes.add('dropped', path, `a thought goes back only to the model that thought it: ${reason}`)
      return []
    }
    if (signature.id !== undefined) return []
    if (signature.kind === 'signature' && text !== '') {
      return [...this.flush(), { text, thought: true, thoughtSignature: signature.value }]
    }
    const before = this.flush()
    this.#forText = signature.value
    return before
  }

  takeForText(): Json {
    const thoughtSignature = this.#forText
    this.#forText = undefined
    return thoughtSignature === undefined ? {} : { thoughtSignature }
  }

  /**
   * A part for a signature without a text after it. The vendor sends such parts itself at the end of a
   * stream.
   */
  flush(): Json[] {
    const signature = this.takeForText()
    return 'thoughtSignature' in signature ? [{ text: '', ...signature }] : []
  }

  /** The vendor signs only the first of parallel calls. */
  takeForCall(call: ToolCallBlock, isFirst: boolean): Json {
    const thoughtSignature = this.#byCall.get(call.id)
    if (thoughtSignature !== undefined) return { thoughtSignature }
    if (!isFirst || isBefore3(this.#model)) return {}
    this.#notes.add('defaulted', call.path, 'sent to the upstream as a call that another model made')
    return { thoughtSignature: foreignCallSignature }
  }
}
