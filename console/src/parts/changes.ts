/** What differs between two states of a thing, member by member. */
export interface Change {
  /** Such as `limits.concurrency`. */
  path: string
  kind: 'added' | 'removed' | 'changed'
  before: string | undefined
  after: string | undefined
}

/**
 * Every member that differs. A thing that was not there has only added ones. Of two lists of texts only the
 * texts that came or went are reported.
 */
export function changesOf(before: unknown, after: unknown): Change[] {
  const [old, next] = [flat(before), flat(after)]
  return [...new Set([...old.keys(), ...next.keys()])].sort().flatMap((path): Change[] => {
    const [was, is] = [old.get(path), next.get(path)]
    const [wasText, isText] = [textOf(was), textOf(is)]
    if (wasText === isText) return []
    if (wasText === undefined) return [{ path, kind: 'added', before: undefined, after: isText }]
    if (isText === undefined) return [{ path, kind: 'removed', before: wasText, after: undefined }]
    const lists = listChange(was, is)
    return [{ path, kind: 'changed', ...(lists ?? { before: wasText, after: isText }) }]
  })
}

/** Of a thing that was made or deleted: what it was. Nothing differs, so nothing needs a colour. */
export function membersOf(state: unknown): (readonly [path: string, value: string])[] {
  return [...flat(state)].flatMap(([path, value]) => {
    const text = textOf(value)
    return text === undefined ? [] : [[path, text] as const]
  })
}

/** Lists count as one value: their members have no names. */
function flat(value: unknown, path = '', found = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [name, inner] of Object.entries(value))
      flat(inner, path === '' ? name : `${path}.${name}`, found)
  } else {
    found.set(path === '' ? 'value' : path, value)
  }
  return found
}

function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string') return value
  return isTexts(value) ? value.join(', ') : JSON.stringify(value)
}

function listChange(was: unknown, is: unknown): Pick<Change, 'before' | 'after'> | undefined {
  if (!isTexts(was) || !isTexts(is)) return undefined
  const [gone, come] = [was.filter((one) => !is.includes(one)), is.filter((one) => !was.includes(one))]
  if (gone.length + come.length === 0) return undefined
  const stay = was.length - gone.length
  const others = stay === 0 ? '' : stay === 1 ? ' (1 other stays)' : ` (${stay} others stay)`
  return {
    before: gone.length === 0 ? undefined : gone.join(', '),
    after: come.length === 0 ? (stay === 0 ? undefined : `removed${others}`) : `${come.join(', ')}${others}`,
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
}
