import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { type ByteRange, scanElements, scanMembers } from '../protocols/json-scan.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** A place of a request that names a file of ours. */
export interface FileUse extends ByteRange {
  id: string
  /** Of the member that names it, such as `input[0].content[1].file_id`. */
  path: string
  /** The content part of this range, as JSON. */
  part: string
  /** The member of the part that names the file: the part itself, or the object of this member. */
  within: 'part' | 'file' | 'source'
}

/** An id of a file of ours. */
export const ownFileId = /^file-tg[0-9a-f]{32}$/

/** What a body that names a file of ours has in it. */
export const fileMark = '"file-tg'

/**
 * The places of a body that name files of ours, in their order. `body`: a scan has checked it. Throws
 * `invalid_request` where a file is named in a place that cannot take its bytes, and for more than `most`
 * places.
 */
export function fileUsesIn(body: Buffer, client: ProtocolName, most: number): FileUse[] {
  const places = placesIn(body)
  if (places.length === 0) return []
  const uses: FileUse[] = []
  visit(body, { start: 0, end: body.length }, places, '', [], (found) => {
    if (uses.length === most) {
      throw invalid(found.path, `a request may name files in ${most} places`)
    }
    uses.push(useOf(body, client, found))
  })
  return uses
}

interface Place extends ByteRange {
  id: string
}

interface Found extends Place {
  path: string
  /** The objects around it, the innermost first. */
  objects: ByteRange[]
}

const idForm = /^"(file-tg[0-9a-f]{32})"$/
const idCharacters = 'file-tg'.length + 32

/** All texts that look like an id of ours, anywhere in the body. */
function placesIn(body: Buffer): Place[] {
  const places: Place[] = []
  for (let at = body.indexOf(fileMark); at !== -1; at = body.indexOf(fileMark, at + 1)) {
    const end = at + idCharacters + 2
    const id = idForm.exec(body.toString('latin1', at, end))?.[1]
    if (id !== undefined) places.push({ start: at, end, id })
  }
  return places
}

/** The members on the way to content parts in all formats that clients speak. */
const ways = ['messages', 'input', 'content', 'output', 'file', 'source', 'file_id'] as const

function visit(
  body: Buffer,
  span: ByteRange,
  places: readonly Place[],
  path: string,
  objects: ByteRange[],
  onFound: (found: Found) => void,
): void {
  const inside = ({ start, end }: ByteRange) => places.slice(firstFrom(places, start), firstFrom(places, end))
  if (body[span.start] === openBracket) {
    scanElements(body, span, unbounded).forEach((element, index) => {
      const those = inside(element)
      if (those.length > 0) visit(body, element, those, `${path}[${index}]`, objects, onFound)
    })
  } else if (objects.length === 0 || body[span.start] === openBrace) {
    const members = scanMembers(body, span, ways, { ...unbounded, path })
    for (const name of ways) {
      const value = members[name]
      if (value === undefined) continue
      const [first, ...others] = inside(value)
      if (first === undefined) continue
      const at = path === '' ? name : `${path}.${name}`
      const around = [span, ...objects]
      if (name !== 'file_id') visit(body, value, [first, ...others], at, around, onFound)
      else if (first.start === value.start) onFound({ ...first, path: at, objects: around })
    }
  }
}

/** The index of the first place at or after this offset. A body may have very many places and elements. */
function firstFrom(places: readonly Place[], offset: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle]?.start ?? offset) < offset) low = middle + 1
    else high = middle
  }
  return low
}

/** The body was scanned within its bounds. */
const unbounded = { depthMax: 10_000 }
const openBracket = 0x5b
const openBrace = 0x7b

function useOf(body: Buffer, client: ProtocolName, { id, path, objects }: Found): FileUse {
  const [inner, outer] = objects
  for (const [span, within] of [
    [inner, 'part'],
    [outer, client === 'anthropic-messages' ? 'source' : 'file'],
  ] as const) {
    if (span === undefined) continue
    const part = body.toString('utf8', span.start, span.end)
    if (isPart(parsed(part), client, within)) return { ...span, id, path, part, within }
  }
  throw invalid(path, `a file that is kept here can only be read as ${partsOf[client] ?? 'a content part'}`)
}

const partsOf: Partial<Record<ProtocolName, string>> = {
  'openai-responses': '"input_file", "input_image" or "computer_screenshot"',
  'openai-chat': '"file"',
  'anthropic-messages': '"document" or "image"',
}

const partTypes: ReadonlySet<unknown> = new Set(['input_file', 'input_image', 'computer_screenshot'])

function isPart(part: Json, client: ProtocolName, within: FileUse['within']): boolean {
  const { type } = part
  switch (client) {
    case 'openai-responses':
      return within === 'part' && partTypes.has(type)
    case 'openai-chat':
      return within === 'file' && type === 'file' && isRecord(part.file)
    case 'anthropic-messages':
      return within === 'source' && (type === 'document' || type === 'image') && isRecord(part.source)
    default:
      return false
  }
}

function parsed(text: string): Json {
  const value: unknown = JSON.parse(text)
  return isRecord(value) ? value : {}
}
