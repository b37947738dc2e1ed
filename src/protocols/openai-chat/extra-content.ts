import type { Block, ReasoningSignature, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { isRecord, type Json, parseObject } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { isSignedBy } from '../signed-by.ts'

/**
 * Puts `extra_content` back on the message and the calls that it arrived with. A call's signature carries the
 * id of the call.
 */
export class ExtraContents {
  readonly #byCall = new Map<string, unknown>()
  #ofMessage: unknown

  constructor(turns: readonly Turn[], upstreamModel: string) {
    for (const { blocks } of turns) for (const block of blocks) this.#add(block, upstreamModel)
  }

  #add(block: Block, upstreamModel: string): void {
    if (block.type !== 'reasoning' || !isSignedBy(block.signature, 'openai-chat', upstreamModel)) return
    const held = heldBy(block.signature)
    if (held === undefined) return
    if (held.of === 'message') this.#ofMessage = held.extra_content
    else this.#byCall.set(portable(block.signature.id ?? ''), held.extra_content)
  }

  /** The member for a call, to be spread into it. */
  forCall({ id }: ToolCallBlock): Json {
    return this.#byCall.size === 0 ? none : member(this.#byCall.get(portable(id)))
  }

  /** The member for the message. */
  forMessage(): Json {
    return member(this.#ofMessage)
  }
}

/** The id as used by a client whose format allows fewer characters. */
function portable(id: string): string {
  return legalCallId(id, { illegal: /[^a-zA-Z0-9_-]/, charactersMax: 40 })
}

/** Whether a signature of this format contains data for the vendor instead of reasoning. */
export function isExtraContent(signature: ReasoningSignature): boolean {
  return heldBy(signature) !== undefined
}

function heldBy({ value }: ReasoningSignature): Json | undefined {
  // Values of this format are JSON that we wrote.
  const held = value.startsWith('{"of":') ? parseObject(value) : undefined
  return isRecord(held?.extra_content) ? held : undefined
}

const none: Json = Object.freeze({})

function member(extra: unknown): Json {
  return extra === undefined ? none : { extra_content: extra }
}
