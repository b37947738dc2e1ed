import type { Watch } from './json-words.ts'

/**
 * Members that contain one or more ids of something stored at a vendor, in lower case. From the types of
 * openai and @anthropic-ai/sdk.
 */
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

/**
 * The names and types of parts of a conversation that are not text, by the capability that an offer needs for
 * them.
 */
export const mediaWords = {
  imageInput: ['image_url', 'input_image', 'image'],
  documentInput: ['file', 'input_file', 'document'],
  audioInput: ['input_audio', 'audio'],
} as const

const vendorState = 1
const media = 2
const all = vendorState | media
const lossy = 4
const ours = 8

/** The length from which a number can have more digits than a double preserves. */
const manyDigits = 15

const words = new Map<string, number>()
for (const word of [...idMembers, 'item_reference', 'image_generation_call', 'prompt', 'audio'])
  words.set(word, vendorState)
for (const word of Object.values(mediaWords).flat()) words.set(word, media | (words.get(word) ?? 0))

/**
 * For each pair of first and last letter, a bit per possible word length, so that most names need no further
 * check.
 */
const lengths = new Uint32Array(0x1_0000)
for (const word of words.keys()) {
  const pair = pairOf(word.charCodeAt(0), word.charCodeAt(word.length - 1))
  lengths[pair] = (lengths[pair] ?? 0) | (1 << word.length)
}

/** Maps upper and lower case to the same pair. */
function pairOf(first: number, last: number): number {
  return ((first | 0x20) << 8) | (last | 0x20)
}

/** A letter, a digit or `_` written as an escape could disguise a word. */
const escaped = /\\u00(?:3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\da])/i
const vendorFile = /^"https:\\?\/\\?\/generativelanguage\./i
const shortestAddress = 40

/** The letter `h` in lower case. */
const letterH = 0x68
/** The length of the longest word if all its characters are escaped. */
const beginBytes = 128

/** The beginnings of what this gateway gives its clients to send back: ids of files, and envelopes. */
export const ownPrefixes = { file: 'file-tg', envelope: 'tg1.' } as const
const ownBeginnings = Object.values(ownPrefixes).map((prefix) => Buffer.from(prefix))

/**
 * What the names and texts of a body reveal while it is scanned. True means that the body may contain the
 * feature, which needs a closer look. False is certain.
 */
export class BodyMarks implements Watch {
  state = 0

  get namesVendorState(): boolean {
    return (this.state & vendorState) !== 0
  }

  get hasMediaWords(): boolean {
    return (this.state & media) !== 0
  }

  /** Whether a text begins like something that this gateway has made. Escapes are not decoded. */
  get namesOurs(): boolean {
    return (this.state & ours) !== 0
  }

  /** Like `mayLoseDigits` of `canonical/json-digits.ts`, but only for numbers. */
  get losesDigits(): boolean {
    return (this.state & lossy) !== 0
  }

  lookAtNumber(bytes: Buffer, start: number, end: number): void {
    if (end - start >= manyDigits || isUnusual(bytes, start, end)) this.state |= lossy
  }

  look(bytes: Buffer, start: number, end: number, hasCodes: boolean): void {
    if ((this.state & all) !== all) this.state |= marksOf(bytes, start, end, hasCodes)
    for (const beginning of ownBeginnings) if (beginsWith(bytes, start + 1, beginning)) this.state |= ours
  }
}

function beginsWith(bytes: Buffer, start: number, beginning: Buffer): boolean {
  let i = 0
  while (i < beginning.length && bytes[start + i] === beginning[i]) i++
  return i === beginning.length
}

/** Whether a number has an exponent or a zero at the end of its fraction, or is -0. */
function isUnusual(bytes: Buffer, start: number, end: number): boolean {
  const endsInZero = bytes[end - 1] === 0x30
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === 0x65 || byte === 0x45 || (byte === 0x2e && endsInZero)) return true
  }
  return endsInZero && bytes[start] === 0x2d && end - start === 2
}

function marksOf(bytes: Buffer, start: number, end: number, hasCodes: boolean): number {
  const length = end - start
  const first = bytes[start + 1] ?? 0
  const known = lengths[pairOf(first, bytes[end - 2] ?? 0)] ?? 0
  if (known !== 0 && length < 34 && (known & (1 << (length - 2))) !== 0) {
    const marks = words.get(bytes.toString('latin1', start + 1, end - 1).toLowerCase())
    if (marks !== undefined) return marks
  }
  const isAddress = (first | 0x20) === letterH && length > shortestAddress
  if (!isAddress && !hasCodes) return 0
  const begin = bytes.toString('latin1', start, Math.min(end, start + beginBytes))
  if (isAddress && vendorFile.test(begin)) return vendorState
  return hasCodes && escaped.test(begin) ? all : 0
}
