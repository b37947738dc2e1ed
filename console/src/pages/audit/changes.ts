/** What differs between two states of a thing, member by member. */
export interface Change {
  /** Such as `limits.concurrency`. */
  path: string
  kind: 'added' | 'removed' | 'changed'
  before: string | undefined
  after: string | undefined
}

/** Every member that differs. A thing that was not there has only added ones. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const [old, next] = [flat(before), flat(after)]
  return [...new Set([...old.keys(), ...next.keys()])].sort().flatMap((path): Change[] => {
    const [was, is] = [old.get(path), next.get(path)]
    if (was === is) return []
    if (was === undefined) return [{ path, kind: 'added', before: undefined, after: is }]
    if (is === undefined) return [{ path, kind: 'removed', before: was, after: undefined }]
    return [{ path, kind: 'changed', before: was, after: is }]
  })
}

/** Lists count as one value: their members have no names. */
function flat(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value))
      flat(inner, path === '' ? name : `${path}.${name}`, found)
  } else if (value !== null && value !== undefined) {
    found.set(path === '' ? 'value' : path, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return found
}
