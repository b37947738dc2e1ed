import type { TranslationNote } from '../canonical/chat.ts'
import type { TurnIn } from '../kept/conversations.ts'
import type { KeptState } from '../protocols/protocol.ts'

/** How the gateway keeps the answer of a request, and what it sends again of kept answers. */
export interface Keeping extends KeptState {
  /** The items or messages that the request adds, as JSON text without the brackets around them. */
  input: string
  /**
   * Members that hold for all of a thread, as JSON text without the braces; undefined: it is not a first
   * request of one.
   */
  head: string | undefined
  /**
   * The answer is kept even where a channel of its format answers: the channel never sees that it is asked
   * to.
   */
  always: boolean
  /** The conversation that gets what the request and its answer add, whether or not we keep the answer. */
  turn?: TurnIn
  /** What was sent instead of the id. */
  notes: readonly TranslationNote[]
  /** The request has a claim on the previous answer, which ends when its own answer is kept. */
  claimedFor?: string
  /** Called once when the answer is kept. */
  onKept?(): void
}
