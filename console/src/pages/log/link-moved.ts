import type { Part } from './compare.ts'
import { entriesOf, isBranch, memberPath, type Values } from './json-values.ts'

/** Tells where a value stands that went from one place to another: one that was removed once, and came once. */
export function linkMoved(
  parts: readonly Part[],
  values: Values,
  isLost: (path: string) => boolean,
): readonly Part[] {
  /** By value. Undefined: more than one. */
  const went = new Map<number, string | undefined>()
  const came = new Map<number, { path: string; part: string } | undefined>()
  const noteOnce = <Place>(places: Map<number, Place | undefined>, value: unknown, place: Place) => {
    if (typeof value === 'boolean' || value === null || value === '') return
    const id = values.idOf(value)
    places.set(id, places.has(id) ? undefined : place)
  }
  const noteAll = (value: unknown, path: string, part: string) => {
    noteOnce(came, value, { path, part })
    if (!isBranch(value)) return
    for (const [name, inner] of entriesOf(value)) {
      noteAll(inner, Array.isArray(value) ? `${path}[${name}]` : memberPath(path, name), part)
    }
  }
  const look = (part: Part): void => {
    if (part.kind === 'removed' && !isLost(part.path)) noteOnce(went, part.value, part.path)
    if (part.kind === 'added') noteAll(part.value, part.path, part.path)
    if (part.kind === 'inside') part.parts.forEach(look)
  }
  parts.forEach(look)
  const toOf = new Map<string, string>()
  const fromOf = new Map<string, string[]>()
  for (const [id, from] of went) {
    const to = came.get(id)
    if (from === undefined || to === undefined) continue
    toOf.set(from, to.path)
    fromOf.set(to.part, [...(fromOf.get(to.part) ?? []), from])
  }
  const link = (part: Part): Part => {
    switch (part.kind) {
      case 'removed':
        return { ...part, to: toOf.get(part.path) }
      case 'added':
        return { ...part, from: fromOf.get(part.path) ?? [] }
      case 'inside':
        return { ...part, parts: part.parts.map(link) }
      case 'same':
      case 'changed':
        return part
    }
  }
  return parts.map(link)
}
