import type { SocketAnswer } from '../protocols/protocol-state.ts'

/**
 * The newest answer of a connection, remembered so that its client can continue by sending only the new
 * items.
 */
export interface LaneState {
  id: string
  /** All items up to and including that answer, as JSON text without the surrounding brackets. */
  items: string
  /**
   * The id of the answer before these items, which is kept elsewhere. Undefined when the conversation begins
   * with them.
   */
  before: string | undefined
}

/** Returns the state after an answer that is not kept anywhere else; undefined when it is too large. */
export function stateAfter(
  answer: SocketAnswer,
  { asked, before }: { asked: string; before: string | undefined },
  bytesMax: number,
): LaneState | undefined {
  const items = [asked, answer.items()].filter((each) => each !== '').join(',')
  return items.length > bytesMax ? undefined : { id: answer.id, items, before }
}
