import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { ownPrefixes } from '../protocols/body-marks.ts'
import { type ByteRange, scanElements, scanMembers } from '../protocols/json-scan.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** A place in a request that refers to one of our files. */
export interface FileUse extends ByteRange {
  id: string
  /** The path of the member that names the file, such as `input[0].content[1].file_id`. */
  path: string
  /** The content part in this range, as JSON. */
  part: string
  /** The part of the content that names the file: the part itself, or the object in this member. */
  within: 'part' | 'file' | 'source'
}

/** The id of one of our files. */
export const ownFileId = /^file-tg[0-9a-f]{32}$/

/** Contained in every body that refers to one of our files. */
export const fileMark = `"${ownPrefixes.file}`

/**
 * Returns the places in a body that refer to our files, in order. A scan has already checked `body`. Throws
 * `invalid_request` if a file is referenced where its bytes cannot be inserted, or if there are more than
 * `most` places.
 */
export function fileUsesIn(body: Buffer, client: ProtocolName, most: number): FileUse[] {
  const places = placesIn(body)
  if (places.length === 0) return []
  const uses: FileUse[] = []
  visit(body, { start: 0, end: body.length }, places, '', [], (found) => {
    if (uses.length === most) {
      throw invalid(found.path, `expected at most ${most} references to files in a request`)
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
  /** The objects that enclose it, innermost first. */
  objects: ByteRange[]
}

const idForm = /^"(file-tg[0-9a-f]{32})"$/
const idCharacters = ownPrefixes.file.length + 32

/** Finds all texts that look like one of our ids, anywhere in the body. */
function placesIn(body: Buffer): Place[] {
  const places: Place[] = []
  for (let at = body.indexOf(fileMark); at !== -1; at = body.indexOf(fileMark, at + 1)) {
    const end = at + idCharacters + 2
    const id = idForm.exec(body.toString('latin1', at, end))?.[1]
    if (id !== undefined) places.push({ start: at, end, id })
  }
  return places
}

/** The members that lead to content parts in all the formats that clients speak. */
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

/**
 * Returns the index of the first place at or after this offset, by binary search, because a body may have
 * very many places and elements.
 */
function firstFrom(places: readonly Place[], offset: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle]?.start ?? offset) < offset) low = middle + 1
    else high = middle
  }
  return low
}

/** No depth limit is needed, because the body has already been scanned within its limits. */
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
  throw invalid(path, `a file stored in Tollgate can be used only in ${partsOf[client] ?? 'a content part'}`)
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
