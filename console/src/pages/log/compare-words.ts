import { count } from '../../format/numbers.ts'
import { type Comparison, isMoved } from './compare.ts'
import type { Part } from './compared-part.ts'

/** `1 added, 2 moved; 42 unchanged members`. */
export function countsInWords({ same, ...others }: Comparison['counts']): string {
  const kinds = ['added', 'removed', 'changed', 'moved'] as const
  const told = kinds.flatMap((kind) => (others[kind] === 0 ? [] : [`${count(others[kind])} ${kind}`]))
  return same === 0 ? told.join(', ') : `${told.join(', ')}; ${unchanged(same)}`
}

export function unchanged(members: number): string {
  return members === 1 ? '1 unchanged member' : `${count(members)} unchanged members`
}

interface Group {
  key: string
  part: Exclude<Part, { kind: 'same' }> | undefined
  /** Neighbours that are equal, where there is no `part`. */
  same: (Part & { kind: 'same' })[]
}

/** Members in their order, in which neighbours that are equal on both sides are one. */
export function groupsOf(parts: readonly Part[]): Group[] {
  const groups: Group[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (part.kind !== 'same') groups.push({ key: `${part.kind} ${part.path}`, part, same: [] })
    else if (last !== undefined && last.part === undefined) last.same.push(part)
    else groups.push({ key: `same ${part.path}`, part: undefined, same: [part] })
  }
  return groups
}

const placesMax = 3

/** `moved from stop_sequences`, or `added, with system`. */
export function addedInWords(part: Part & { kind: 'added' }): string {
  const [first] = part.moved
  if (first === undefined) return 'added'
  if (isMoved(part)) return `moved from ${first.from}`
  return `added, with ${placesOf(part.moved.map(({ from }) => from))}`
}

/** `moved to stop`, or `removed; content[0].text is at content`. */
export function removedInWords(part: Part & { kind: 'removed' }): string {
  const [first] = part.moved
  if (first === undefined) return 'removed'
  if (isMoved(part)) return `moved to ${first.to}`
  return `removed; ${placesOf(part.moved.map(({ from, to }) => `${from} is at ${to}`))}`
}

function placesOf(places: readonly string[]): string {
  const left = places.length - placesMax
  return left > 0 ? `${places.slice(0, placesMax).join(', ')} and ${left} more` : places.join(', ')
}
