import type { Part } from './compared-part.ts'
import { equalItems } from './equal-items.ts'
import { isBranch, isRecord, JsonValues, memberPath, TooLarge } from './json-values.ts'
import { linkMoved } from './link-moved.ts'

export interface Comparison {
  parts: readonly Part[]
  /**
   * How many of each kind; `same`: members without members of their own. `moved` are not among the removed.
   */
  counts: Record<'added' | 'removed' | 'changed' | 'moved' | 'same', number>
}

/** How far an item of a list looks for one that is like it. */
const lookAhead = 100

/**
 * Two JSON values, member by member. Items of lists are aligned, so that one more at the head is one added
 * item. `isLost`: whether what was at a path of the first is known to be in the second no more, so that an
 * equal value elsewhere is another one. Undefined: they are too large.
 */
export function compare(
  before: unknown,
  after: unknown,
  isLost: (path: string) => boolean = () => false,
): Comparison | undefined {
  const values = new JsonValues()
  try {
    values.idOf(before)
    values.idOf(after)
  } catch (error) {
    if (error instanceof TooLarge) return undefined
    throw error
  }
  const whole = partOf({ name: '', path: '', there: '', before, after }, values)
  const parts = whole.kind === 'inside' ? whole.parts : [whole]
  const found = linkMoved(parts, values, isLost)
  const counts = { added: 0, removed: 0, changed: 0, moved: 0, same: 0 }
  count(found, counts)
  return { parts: found, counts }
}

interface Pair {
  name: string
  path: string
  /** Path in the second body: items of lists are in other places. */
  there: string
  before: unknown
  after: unknown
}

function partOf(pair: Pair, values: JsonValues): Part {
  const { name, path, before, after } = pair
  const id = values.idOf(before)
  if (id === values.idOf(after))
    return { kind: 'same', name, path, value: before, members: values.membersOf(id) }
  if (Array.isArray(before) && Array.isArray(after))
    return { kind: 'inside', name, path, parts: listParts({ ...pair, before, after }, values) }
  if (isRecord(before) && isRecord(after))
    return { kind: 'inside', name, path, parts: recordParts({ ...pair, before, after }, values) }
  return { kind: 'changed', name, path, before, after }
}

interface PairOf<Value> extends Pair {
  before: Value
  after: Value
}

function recordParts(
  { path, there, before, after }: PairOf<Record<string, unknown>>,
  values: JsonValues,
): Part[] {
  const at = (name: string) => memberPath(path, name)
  const thereAt = (name: string) => memberPath(there, name)
  return [
    ...Object.entries(before).map(
      ([name, value]): Part =>
        Object.hasOwn(after, name)
          ? partOf({ name, path: at(name), there: thereAt(name), before: value, after: after[name] }, values)
          : { kind: 'removed', name, path: at(name), value, moved: [] },
    ),
    ...Object.entries(after)
      .filter(([name]) => !Object.hasOwn(before, name))
      .map(([name, value]): Part => ({ kind: 'added', name, path: thereAt(name), value, moved: [] })),
  ]
}

function listParts({ path, there, before, after }: PairOf<readonly unknown[]>, values: JsonValues): Part[] {
  const parts: Part[] = []
  let [old, next] = [0, 0]
  const both = (a: number, b: number) =>
    parts.push(
      partOf(
        {
          name: a === b ? String(a) : `${a} → ${b}`,
          path: `${path}[${a}]`,
          there: `${there}[${b}]`,
          before: before[a],
          after: after[b],
        },
        values,
      ),
    )
  const removed = (a: number) =>
    parts.push({
      kind: 'removed',
      name: String(a),
      path: `${path}[${a}]`,
      value: before[a],
      moved: [],
    })
  const added = (b: number) =>
    parts.push({ kind: 'added', name: String(b), path: `${there}[${b}]`, value: after[b], moved: [] })
  /** Between two items that are equal: those that are alike belong together. */
  const gap = (oldEnd: number, nextEnd: number) => {
    while (old < oldEnd) {
      let like = next
      const last = Math.min(nextEnd, next + lookAhead)
      while (like < last && !isAlike(before[old], after[like])) like++
      if (like === last) removed(old)
      else {
        while (next < like) added(next++)
        both(old, next++)
      }
      old++
    }
    while (next < nextEnd) added(next++)
  }
  for (const [a, b] of equalItems(before, after, values)) {
    gap(a, b)
    both(old++, next++)
  }
  gap(before.length, after.length)
  return parts
}

/**
 * Whether two items that differ may be the same thing in two forms: messages of one role, parts of one type.
 */
function isAlike(before: unknown, after: unknown): boolean {
  if (!isRecord(before) || !isRecord(after)) return isBranch(before) === isBranch(after)
  for (const name of ['role', 'type'])
    if (before[name] !== undefined && after[name] !== undefined) return before[name] === after[name]
  return true
}

function count(parts: readonly Part[], counts: Comparison['counts']): void {
  for (const part of parts) {
    switch (part.kind) {
      case 'inside':
        count(part.parts, counts)
        break
      case 'same':
        counts.same += part.members
        break
      case 'removed':
        counts[isMoved(part) ? 'moved' : 'removed']++
        break
      case 'added':
        // What is nothing but a value from elsewhere has been counted there.
        if (!isMoved(part)) counts.added++
        break
      case 'changed':
        counts.changed++
    }
  }
}

/** Whether the whole member stood, or stands, in another place. */
export function isMoved({ kind, path, moved }: Part & { kind: 'added' | 'removed' }): boolean {
  return moved.some(({ from, to }) => (kind === 'removed' ? from : to) === path)
}

/** Whether a path is this one, or leads through it. */
export function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`)
}

/**
 * Characters at the head of two texts that are the same, and too many to show: the rest begins shortly before
 * what differs.
 */
export function sameHead(before: unknown, after: unknown): number {
  if (typeof before !== 'string' || typeof after !== 'string') return 0
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  return head > shownHead * 4 ? head - shownHead : 0
}

const shownHead = 60
