import { isRecord, recordsOf, textOf } from '../canonical/json.ts'

/** What a connection remembers of its newest answer, so that its client goes on with the new items alone. */
export interface LaneState {
  id: string
  /** All items up to and with that answer, as JSON text without the brackets around them. */
  items: string
  /** The answer before these items, which is kept elsewhere. Undefined: the conversation begins with them. */
  before: string | undefined
}

/**
 * The state after an answer that is kept nowhere else; undefined: another one is to be asked for it, or it is
 * too large.
 */
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
 * Items of an answer that is not kept, as a later request repeats them. Reasoning goes back only in its
 * encrypted form.
 */
function sentBack(output: readonly unknown[]): readonly unknown[] {
  const isLost = (item: unknown) =>
    isRecord(item) && item.type === 'reasoning' && textOf(item.encrypted_content) === undefined
  if (!output.some(isLost)) return output
  // A vendor looks up the ids of items that it made, and refuses a call without the reasoning before it.
  return recordsOf(output)
    .filter((item) => !isLost(item))
    .map(({ id: _, ...item }) => item)
}
