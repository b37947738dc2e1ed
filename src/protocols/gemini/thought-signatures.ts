import type { Block, ReasoningBlock, ToolCallBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { isBefore3 } from './wire.ts'

/**
 * The value that the vendor accepts as the signature of a call made by another model.
 * https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
 */
const foreignCallSignature = 'skip_thought_signature_validator'

/**
 * Puts the thought signatures of one turn back on their parts. A call's signature carries the id of the call,
 * so its position is known even if a client of another format reorders the blocks.
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

  /**
   * Returns parts for reasoning that has a part of its own. Otherwise, the signature is kept for the next
   * text or call.
   */
  encodeReasoning({ signature, text, path }: ReasoningBlock): Json[] {
    if (!isSignedBy(signature, 'gemini', this.#model)) {
      const reason = signature === undefined ? 'it has no signature' : 'its signature is from another model'
      this.#notes.add('dropped', path, `reasoning is sent back only to the model that produced it: ${reason}`)
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
   * Returns a part for a signature that is not followed by text. The vendor itself sends such parts at the
   * end of a stream.
   */
  flush(): Json[] {
    const signature = this.takeForText()
    return 'thoughtSignature' in signature ? [{ text: '', ...signature }] : []
  }

  /** The vendor signs only the first of several parallel calls. */
  takeForCall(call: ToolCallBlock, isFirst: boolean): Json {
    const thoughtSignature = this.#byCall.get(call.id)
    if (thoughtSignature !== undefined) return { thoughtSignature }
    if (!isFirst || isBefore3(this.#model)) return {}
    this.#notes.add('defaulted', call.path, 'sent to the upstream as a call made by another model')
    return { thoughtSignature: foreignCallSignature }
  }
}
