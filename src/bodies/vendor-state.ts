import { isRecord, type Json, textOf } from '../canonical/json.ts'
import { idMembers } from '../protocols/body-marks.ts'
import { type ByteRange, scanElements, scanMembers } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { ownFileId } from './file-uses.ts'

// Ids of what a vendor keeps: files, vector stores, containers, skills, items, prompts, cached contents,
// recordings. From the types of openai and @anthropic-ai/sdk as they are pinned, and
// https://ai.google.dev/api/caching, read 2026-11-28.

/**
 * Members with a client's own data, such as arguments of its tools and their schemas, and what the vendor
 * wrote in an earlier answer.
 */
const ownMembers: ReadonlySet<string> = new Set([
  'metadata',
  'parameters',
  'input_schema',
  'input_examples',
  'schema',
  'headers',
  'annotations',
  'citations',
])

const urlMembers: ReadonlySet<string> = new Set(['url', 'file_url', 'image_url', 'file_uri', 'fileUri'])

/** Files of Gemini's API have addresses, which the key of the channel opens. */
const vendorFile = /^https:\/\/generativelanguage\.googleapis\.com\/(?:[^?#]*\/)?files\//i

/**
 * The path of the first id of a vendor's own state in a body, such as `input[0].id`; undefined: it names
 * none. `body`: a scan has checked it, and found nearly all bodies to name none.
 */
export function vendorStateIn(
  body: Buffer,
  { conversation, namesVendorState = true }: Pick<RequestFacts, 'conversation' | 'namesVendorState'>,
): string | undefined {
  if (!namesVendorState && !hasBareItem(body, conversation)) return undefined
  const json: unknown = JSON.parse(body.toString('utf8'))
  return isRecord(json) ? vendorStateOf(json) : undefined
}

/** The same for a parsed body. */
export function vendorStateOf(body: Json): string | undefined {
  const { prompt } = body
  if (isRecord(prompt) && textOf(prompt.id) !== undefined) return 'prompt.id'
  return inMembers(body, '')
}

/**
 * An item of Responses that has an id, no type and no role is a reference. Messages of the other formats have
 * roles.
 */
function hasBareItem(body: Buffer, conversation: ByteRange | undefined): boolean {
  if (conversation === undefined || !isInput(body, conversation.start) || !body.includes('"id"')) return false
  return scanElements(body, conversation, unbounded).some((element) => {
    if (body[element.start] !== openBrace) return false
    const { id, type, role } = scanMembers(body, element, ['id', 'type', 'role'], unbounded)
    return id !== undefined && role === undefined && (type === undefined || body[type.start] === letterN)
  })
}

/** Whether the value at `start` is that of a member `input`. */
function isInput(body: Buffer, start: number): boolean {
  let end = start
  while (end > 0 && beforeValue.has(body[end - 1] ?? 0)) end--
  return body.toString('latin1', Math.max(0, end - inputName.length), end) === inputName
}

const inputName = '"input"'
/** Space and the colon. */
const beforeValue: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0x3a])

/** The body was scanned within its bounds. */
const unbounded = { depthMax: 10_000 }
const openBrace = 0x7b
/** Of `null`. */
const letterN = 0x6e

function inValue(value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      const found = inValue(each, `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return isRecord(value) ? (referenceIn(value, path) ?? inMembers(value, path)) : undefined
}

/** An object that is a reference as a whole. */
function referenceIn(value: Json, path: string): string | undefined {
  const { id, type, role, audio } = value
  if (textOf(id) !== undefined) {
    const isBare = /^input\[\d+\]$/.test(path) && role === undefined && (type === undefined || type === null)
    // A picture that the vendor made is named by the id of its call, where its bytes are not sent.
    const isPicture = type === 'image_generation_call' && textOf(value.result) === undefined
    if (type === 'item_reference' || isBare || isPicture) return `${path}.id`
  }
  // A spoken answer that the vendor keeps.
  if (role === 'assistant' && isRecord(audio) && textOf(audio.id) !== undefined) return `${path}.audio.id`
  return undefined
}

function inMembers(value: Json, path: string): string | undefined {
  if (isEcho(value, path)) return undefined
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    if (ownMembers.has(name) || isToolInput(name, value, path)) continue
    if (idMembers.has(name.toLowerCase())) {
      // The vendor's own skills are there for everybody.
      if (isForeign(member) && !(name === 'skill_id' && value.type === 'anthropic')) return at
      const index = Array.isArray(member) ? member.findIndex(isForeign) : -1
      if (index >= 0) return `${at}[${index}]`
      if (name === 'container' && isRecord(member) && textOf(member.id) !== undefined) return `${at}.id`
    } else if (urlMembers.has(name) && typeof member === 'string' && vendorFile.test(member)) return at
    const found = inValue(member, at)
    if (found !== undefined) return found
  }
  return undefined
}

/** An id, and not that of a file of ours: whose that is we know. */
function isForeign(value: unknown): boolean {
  const id = textOf(value)
  return id !== undefined && !ownFileId.test(id)
}

/** Where an item of Responses is, or a content block of Messages: what has a type there is nothing else. */
const typedPlace = /^(?:input\[\d+\]|messages\[\d+\]\.content\[\d+\])$/

/**
 * A call of the vendor's tools or its result, as an earlier answer had it. The vendor reads it as text of the
 * conversation, and opens nothing by its ids.
 */
function isEcho({ type }: Json, path: string): boolean {
  return typeof type === 'string' && /(?:_call|_tool_result)$/.test(type) && typedPlace.test(path)
}

/** `tool_use` and its like: the input is the model's, for a tool. */
function isToolInput(name: string, { type }: Json, path: string): boolean {
  return name === 'input' && typeof type === 'string' && type.endsWith('tool_use') && typedPlace.test(path)
}
