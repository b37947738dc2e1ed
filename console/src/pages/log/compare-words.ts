import { count } from '../../format/numbers.ts'
import type { Comparison, Part } from './compare.ts'

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
