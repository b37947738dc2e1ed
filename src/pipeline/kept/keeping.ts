import type { TranslationNote } from '../../canonical/chat.ts'
import type { KeptState } from '../../protocols/protocol-state.ts'
import type { TurnIn } from '../../state/kept/conversations.ts'

/** How the gateway keeps the answer of a request, and which kept answers it sends again. */
export interface Keeping extends KeptState {
  /** The items or messages that the request adds, as JSON text without the surrounding brackets. */
  input: string
  /**
   * Members that apply to a whole thread, as JSON text without the braces; undefined unless this is the first
   * request of a thread.
   */
  head: string | undefined
  /**
   * True when the answer is kept even if a channel of its format answers, because the channel never sees the
   * request to keep it.
   */
  always: boolean
  /** The conversation to which the request and its answer are added, whether or not the answer is kept. */
  turn?: TurnIn
  /** Describes what was sent in place of the id. */
  notes: readonly TranslationNote[]
  /**
   * The id of the request that has a claim on the previous answer. The claim ends when the request's own
   * answer is kept.
   */
  claimedFor?: string
  /** Called once when the answer is kept. */
  onKept?(): void
}
