import { isRecord, recordsOf, textOf } from '../canonical/json.ts'

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
  answer: { id: string; output: readonly unknown[] },
  { asked, before }: { asked: string; before: string | undefined },
  bytesMax: number,
): LaneState | undefined {
  const output = JSON.stringify(sentBack(answer.output)).slice(1, -1)
  const items = [asked, output].filter((each) => each !== '').join(',')
  return items.length > bytesMax ? undefined : { id: answer.id, items, before }
}

/**
 * Returns the items of an answer that is not kept, in the form in which a later request repeats them.
 * Reasoning can be sent back only in its encrypted form.
 */
function sentBack(output: readonly unknown[]): readonly unknown[] {
  const isLost = (item: unknown) =>
    isRecord(item) && item.type === 'reasoning' && textOf(item.encrypted_content) === undefined
  if (!output.some(isLost)) return output
  // A vendor looks up the ids of its own items, and refuses a call without the reasoning before it.
  return recordsOf(output)
    .filter((item) => !isLost(item))
    .map(({ id: _, ...item }) => item)
}
