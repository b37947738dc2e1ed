import { setImmediate } from 'node:timers/promises'

/** Items of one turn of the event loop. */
const itemsOfTurn = 50

/**
 * `items.map(each)`, with other work between: an upstream's list may have thousands of models, each with its
 * traits.
 */
export async function mapInTurns<T, R>(items: readonly T[], each: (item: T) => R): Promise<R[]> {
  const made: R[] = []
  for (const item of items) {
    if (made.length > 0 && made.length % itemsOfTurn === 0) await setImmediate()
    made.push(each(item))
  }
  return made
}
