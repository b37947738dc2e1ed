import { setImmediate } from 'node:timers/promises'

/** The number of items handled in one turn of the event loop. */
const itemsOfTurn = 50

/**
 * Like `items.map(each)`, but lets other work run in between, because an upstream's list can contain
 * thousands of models, each with its traits.
 */
export async function mapInTurns<T, R>(items: readonly T[], each: (item: T) => R): Promise<R[]> {
  const made: R[] = []
  for (const item of items) {
    if (made.length > 0 && made.length % itemsOfTurn === 0) await setImmediate()
    made.push(each(item))
  }
  return made
}
