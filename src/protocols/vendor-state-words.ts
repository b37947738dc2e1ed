import type { Watch } from './json-words.ts'

/** Members whose text is an id of what a vendor keeps, or a list of them, in small letters. From the types of openai and @anthropic-ai/sdk. */
export const idMembers: ReadonlySet<string> = new Set([
  'file_id',
  'file_ids',
  'vector_store_ids',
  'container',
  'container_id',
  'skill_id',
  'tunnel_id',
  'cached_content',
  'cachedcontent',
])

const words: ReadonlySet<string> = new Set([
  ...idMembers,
  ...['item_reference', 'image_generation_call', 'prompt', 'audio'],
])
const lengths = new Uint8Array(256)
for (const { length } of words) lengths[length + 2] = 1

/** A letter, a digit or `_` that is written as an escape may hide a word. */
const escaped = /\\u00(?:3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\da])/i
const vendorFile = /^"https:\\?\/\\?\/generativelanguage\./i

/** In small letters. */
const letterH = 0x68
/** As long as the longest word, if all of it is written as escapes. */
const beginBytes = 128

/** Finds bodies that may name what a vendor keeps: a closer look finds out whether they do. */
export function watchVendorState(): Watch {
  return { found: false, isWanted }
}

function isWanted(bytes: Buffer, start: number, end: number, hasCodes: boolean): boolean {
  const length = end - start
  if (lengths[length] === 1 && words.has(bytes.toString('latin1', start + 1, end - 1).toLowerCase()))
    return true
  const begin = () => bytes.toString('latin1', start, Math.min(end, start + beginBytes))
  if (((bytes[start + 1] ?? 0) | 0x20) === letterH && length > 40 && vendorFile.test(begin())) return true
  return hasCodes && escaped.test(begin())
}
