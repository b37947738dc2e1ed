import type { Move, Part } from './compared-part.ts'
import { entriesOf, isBranch, type JsonValues, memberPath } from './json-values.ts'

interface Place {
  path: string
  /** Path of the part that it is in, or that it is. */
  part: string
}

/**
 * Tells where a value stands that went from one place to another: one that was removed once, and came once.
 */
export function linkMoved(
  parts: readonly Part[],
  values: JsonValues,
  isLost: (path: string) => boolean,
): readonly Part[] {
  /** By value. Undefined: more than one. */
  const went = new Map<number, Place | undefined>()
  const came = new Map<number, Place | undefined>()
  const look = (part: Part): void => {
    if (part.kind === 'removed')
      noteAll(
        part.value,
        part,
        (value, path) => !isLost(path) && noteOnce(went, values.idOf(value), { path, part: part.path }),
      )
    if (part.kind === 'added')
      noteAll(part.value, part, (value, path) =>
        noteOnce(came, values.idOf(value), { path, part: part.path }),
      )
    if (part.kind === 'inside') part.parts.forEach(look)
  }
  parts.forEach(look)
  const movedOf = new Map<string, Move[]>()
  const note = (part: string, move: Move) => {
    const known = movedOf.get(part)
    if (known === undefined) movedOf.set(part, [move])
    else known.push(move)
  }
  const told = new Set<string>()
  // A value is noted before what is in it: the outermost come first.
  for (const [id, from] of went) {
    const to = came.get(id)
    // What is in a value that moved has moved with it.
    if (from === undefined || to === undefined || outerPaths(from.path).some((path) => told.has(path)))
      continue
    told.add(from.path)
    note(`- ${from.part}`, { from: from.path, to: to.path })
    note(`+ ${to.part}`, { from: from.path, to: to.path })
  }
  const link = (part: Part): Part => {
    switch (part.kind) {
      case 'removed':
        return { ...part, moved: movedOf.get(`- ${part.path}`) ?? [] }
      case 'added':
        return { ...part, moved: movedOf.get(`+ ${part.path}`) ?? [] }
      case 'inside':
        return { ...part, parts: part.parts.map(link) }
      case 'same':
      case 'changed':
        return part
    }
  }
  return parts.map(link)
}

function noteOnce(places: Map<number, Place | undefined>, id: number, place: Place): void {
  places.set(id, places.has(id) ? undefined : place)
}

/** The value and all in it that somebody would know again. */
function noteAll(
  value: unknown,
  { name, path, kind }: Pick<Part, 'name' | 'path' | 'kind'>,
  note: (value: unknown, path: string) => void,
  isWhole = true,
): void {
  if (isTelling(value, name, isWhole || kind === 'added')) note(value, path)
  if (!isBranch(value)) return
  for (const [inner, one] of entriesOf(value)) {
    const place = Array.isArray(value) ? `${path}[${inner}]` : memberPath(path, inner)
    noteAll(one, { name: inner, path: place, kind }, note, false)
  }
}

/**
 * Yes, no and nothing are in many places, and so do numbers and words of the format inside of what was
 * removed.
 */
function isTelling(value: unknown, name: string, isWhole: boolean): boolean {
  if (typeof value === 'boolean' || value === null || value === '') return false
  if (isWhole) return true
  return (
    isBranch(value) || (typeof value === 'string' && value.length > 2 && name !== 'type' && name !== 'role')
  )
}

/** `a.b[0]` is in `a.b` and in `a`. */
function outerPaths(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index))
}
