import { LRUCache } from 'lru-cache'
import type { Json } from '../canonical/json.ts'
import { parseKeepingDigits } from '../canonical/json-digits.ts'
import { type ByteRange, type Outline, skipSpace, strictBytesMax } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { TurnMemo } from '../protocols/turn-memo.ts'
import { freeMemory } from '../runtime/free-memory.ts'

/**
 * The last conversations of each key. An agent sends its whole conversation at every turn, and only its end
 * is new: a body that begins like a remembered one is scanned, searched and parsed from there. Equal means
 * equal bytes, so every result is that of the whole body, but its parts are shared: none of them may be
 * changed.
 *
 * Nothing of it leaves the process, and no key shares what another one has sent.
 */
export class RememberedBodies {
  /** In the order of their use. */
  readonly #entries: LRUCache<Remembered, Remembered>
  readonly #byKey = new Map<string, Remembered[]>()
  readonly #isOff: boolean
  /** Remembered bodies, those that began like an earlier one, and what of these was not read again. */
  readonly counts = { bodies: 0, resumed: 0, bytesResumed: 0 }

  /** `bytesMax`: of all keys together, as estimated. 0: nothing is remembered. */
  constructor(bytesMax: number) {
    this.#isOff = bytesMax === 0
    this.#entries = new LRUCache({
      maxSize: Math.max(1, bytesMax),
      sizeCalculation: sizeOf,
      dispose: (entry) => this.#leave(entry),
    })
  }

  /** The bytes in use, as estimated. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** Forgets what these keys and their sub-keys have sent; without `keyIds`, everything. */
  forget(keyIds?: ReadonlySet<string>): void {
    if (keyIds === undefined) this.#entries.clear()
    else {
      for (const entry of [...this.#entries.keys()]) {
        const { keyId, parent } = entry.sender
        if (keyIds.has(keyId) || (parent !== undefined && keyIds.has(parent.keyId)))
          this.#entries.delete(entry)
      }
    }
  }

  /**
   * What is known of a body before it is read; undefined if it is too short to be remembered. `endpoint`: its
   * path, because each one looks for other members. `member`: the one with the conversation. The scan of the
   * body fills the outline, and `keep` remembers it.
   */
  recall(sender: Sender, endpoint: string, body: Buffer, member: string): Recalled | undefined {
    if (this.#isOff || body.length <= strictBytesMax) return undefined
    for (const entry of this.#byKey.get(sender.keyId) ?? []) {
      const shared = entry.endpoint === endpoint ? sharedElements(entry, body) : 0
      if (shared > 0)
        return { sender, endpoint, outline: beginningOf(entry.outline, shared), known: entry, shared }
    }
    return { sender, endpoint, outline: newOutline(member), known: undefined, shared: 0 }
  }

  /** Remembers a body that was read, unless its conversation has too few messages to be worth it. */
  keep(
    { sender, endpoint, outline, known: recalled, shared }: Recalled,
    body: Buffer,
    facts: BodyFacts,
  ): void {
    const { conversation, losesDigits } = facts
    if (conversation === undefined || outline.ends.length < elementsMin) return
    // Its memory may have become that of another body since `recall`.
    const known = recalled !== undefined && this.#entries.has(recalled) ? recalled : undefined
    const sharedEnd = outline.ends[shared - 1] ?? 0
    const entry: Remembered = {
      sender,
      endpoint,
      outline,
      conversation,
      losesDigits: losesDigits === true,
      absent: new Set(),
      before: known && {
        shared,
        sharedEnd,
        absent: known.absent,
        parsed: known.parsed,
        isSameAround: isSameAround(known, body, conversation),
      },
      memory: known === undefined ? Buffer.from(body) : grown(known, sharedEnd, body),
      bytes: body.length,
      parsed: undefined,
    }
    this.counts.bodies++
    if (known !== undefined) {
      this.counts.resumed++
      this.counts.bytesResumed += sharedEnd
      this.#entries.delete(known)
    }
    this.#enter(entry)
    rememberedOf.set(body, entry)
  }

  /**
   * Parses a remembered body, like `parseKeepingDigits`; undefined for one that is not. Throws SyntaxError as
   * JSON.parse does.
   */
  parse(body: Buffer): ParsedBody | undefined {
    const entry = rememberedOf.get(body)
    if (entry === undefined) return undefined
    if (entry.parsed === undefined) {
      entry.parsed = parsedAfter(entry, body) ?? parsedFirst(entry, body)
      // It takes more now, and is counted only when it enters.
      const { memory } = entry
      entry.memory = noMemory
      const isRemembered = this.#entries.delete(entry)
      entry.memory = memory
      if (isRemembered) this.#enter(entry)
    }
    const { outside, elements, memo } = entry.parsed
    memo.begin()
    return { value: { ...outside, [entry.outline.name]: [...elements] }, memo }
  }

  #enter(entry: Remembered): void {
    this.#entries.set(entry, entry)
    // Larger than all memory for it.
    if (!this.#entries.has(entry)) {
      freeMemory(entry.memory)
      return
    }
    const ofKey = this.#byKey.get(entry.sender.keyId) ?? []
    this.#byKey.set(entry.sender.keyId, [entry, ...ofKey])
    const oldest = ofKey.length >= sessionsMax ? ofKey.at(-1) : undefined
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  #leave(entry: Remembered): void {
    freeMemory(entry.memory)
    const others = (this.#byKey.get(entry.sender.keyId) ?? []).filter((other) => other !== entry)
    if (others.length === 0) this.#byKey.delete(entry.sender.keyId)
    else this.#byKey.set(entry.sender.keyId, others)
  }
}

/** The key that sends a body, and the key whose sub-key it is. */
type Sender = { keyId: string; parent?: { keyId: string } | undefined }

/** What is known of a body that is about to be read. */
export interface Recalled {
  sender: Sender
  endpoint: string
  /** For the scan of the body. */
  outline: Outline
  known: Remembered | undefined
  /** How many elements of the conversation are known. */
  shared: number
}

export interface ParsedBody {
  value: Json
  /** What translations have made of it. */
  memo: TurnMemo
}

type BodyFacts = Partial<Pick<RequestFacts, 'conversation' | 'losesDigits'>>

/** A body that was read, and what its beginning has in common with an earlier one. */
interface Remembered {
  readonly sender: Sender
  readonly endpoint: string
  readonly outline: Outline
  readonly conversation: ByteRange
  readonly losesDigits: boolean
  /** The body, with room after it. The next body of the conversation takes it, and is written over it. */
  memory: Buffer
  readonly bytes: number
  /** The signs that this body does not contain. */
  readonly absent: Set<string>
  readonly before: Before | undefined
  parsed: Parsed | undefined
}

interface Before {
  /** The elements of the earlier body that this one begins with, and where the last of them ends. */
  shared: number
  sharedEnd: number
  absent: ReadonlySet<string>
  parsed: Parsed | undefined
  /** Whether what follows the conversation is equal too. */
  isSameAround: boolean
}

interface Parsed {
  elements: readonly unknown[]
  /** The body with an empty conversation. */
  outside: Json
  memo: TurnMemo
}

/**
 * By the very buffer that was read: a body that the gateway makes of it is another one, whatever else of the
 * request stays.
 */
const rememberedOf = new WeakMap<Buffer, Remembered>()

/** Whether a body contains this text of ASCII. Searches only what is new in a remembered conversation. */
export function contains(body: Buffer, sign: string): boolean {
  const remembered = body.length > strictBytesMax ? rememberedOf.get(body) : undefined
  if (remembered === undefined) return body.includes(sign)
  const { absent, before } = remembered
  if (absent.has(sign)) return false
  const from = before?.absent.has(sign) === true ? Math.max(0, before.sharedEnd - sign.length + 1) : 0
  if (body.includes(sign, from, 'latin1')) return true
  absent.add(sign)
  return false
}

/** The fewest messages of a conversation that is likely to go on. */
const elementsMin = 3
/** The sessions of one key that are remembered. */
const sessionsMax = 32
/** How many elements at the end of a remembered body may have changed, such as one whose cache mark moved. */
const changedMax = 3
/** Sessions of one agent share their beginning, so that a difference is looked for at the end first. */
const probeBytes = 64
const comma = 0x2c
const closeBrace = 0x7d

/**
 * The bytes and the outline, and once it is parsed its texts, the texts as JSON, its messages with what they
 * become in a translation, and the values in them. Measured with messages and values as short as they can be.
 */
function sizeOf({ memory, outline, parsed }: Remembered): number {
  const { ends, values } = outline
  if (parsed === undefined) return memory.length + ends.length * endBytes
  return memory.length * 4 + ends.length * messageBytes + (values.at(-1) ?? 0) * valueBytes
}

const endBytes = 40
const messageBytes = 1000
const valueBytes = 64

function newOutline(name: string): Outline {
  return { name, start: undefined, before: {}, ends: [], values: [], marks: [] }
}

function beginningOf({ name, start, before, ends, values, marks }: Outline, shared: number): Outline {
  const cut = (list: readonly number[]) => list.slice(0, shared)
  return { name, start, before, ends: cut(ends), values: cut(values), marks: cut(marks) }
}

/** How many elements both bodies begin with; 0 unless nearly all remembered ones are among them. */
function sharedElements({ memory, bytes, outline }: Remembered, body: Buffer): number {
  const { ends } = outline
  let shared = Math.max(1, ends.length - changedMax)
  let end = ends[shared - 1] ?? bytes
  if (end >= body.length || !isEqual(memory, body, Math.max(0, end - probeBytes), end)) return 0
  if (!isEqual(memory, body, 0, end)) return 0
  for (; shared < ends.length; shared++) {
    const next = ends[shared] ?? bytes
    if (next >= body.length || !isEqual(memory, body, end, next)) break
    end = next
  }
  // Only what closes itself: a number could go on.
  while (shared > 0 && memory[(ends[shared - 1] ?? 0) - 1] !== closeBrace) shared--
  return shared
}

function isEqual(one: Buffer, other: Buffer, start: number, end: number): boolean {
  return one.compare(other, start, end, start, end) === 0
}

function isSameAround(known: Remembered, body: Buffer, { end }: ByteRange): boolean {
  return body.subarray(end).equals(known.memory.subarray(known.conversation.end, known.bytes))
}

/** Writes a body over the remembered one, with which it shares this many bytes. */
function grown(known: Remembered, shared: number, body: Buffer): Buffer {
  const { memory } = known
  if (body.length <= memory.length) {
    body.copy(memory, shared, shared)
    known.memory = noMemory
    return memory
  }
  const larger = Buffer.allocUnsafeSlow(Math.ceil(body.length * growth))
  body.copy(larger)
  return larger
}

const growth = 1.25
const noMemory = Buffer.alloc(0)

function parsedFirst({ outline, losesDigits }: Remembered, body: Buffer): Parsed {
  const value = parseKeepingDigits(body.toString('utf8'), losesDigits) as Json
  const elements = value[outline.name]
  return {
    elements: Array.isArray(elements) ? elements : [],
    outside: { ...value, [outline.name]: [] },
    memo: new TurnMemo(),
  }
}

/**
 * Parses what is new. Undefined where nothing is known, or where numbers keep their digits, which depends on
 * the whole body.
 */
function parsedAfter(entry: Remembered, body: Buffer): Parsed | undefined {
  const { before, conversation, losesDigits } = entry
  if (before?.parsed === undefined || losesDigits) return undefined
  const { shared, sharedEnd, isSameAround } = before
  const { elements, outside, memo } = before.parsed
  const { start, end } = conversation
  const after = skipSpace(body, sharedEnd, end)
  const added =
    body[after] === comma ? (JSON.parse(`[${body.toString('utf8', after + 1, end)}`) as unknown[]) : []
  return {
    elements: [...elements.slice(0, shared), ...added],
    outside: isSameAround
      ? outside
      : (JSON.parse(`${body.toString('utf8', 0, start)}[]${body.toString('utf8', end)}`) as Json),
    memo,
  }
}
