import type { GatewayError } from '../../canonical/error.ts'
import type { Observation, StreamWatcher, WatchedChunk, WatchOptions } from '../protocol.ts'
import { FrameEnds, frameData, isBlankOrComment } from '../sse.ts'
import { decodeStreamError } from './errors.ts'
import { FrameTail } from './tail.ts'
import { contentBytes, isRecord, type Json, readUsage } from './wire.ts'

/**
 * Watch a `/chat/completions` stream. Never throws.
 *
 * Lazy: frames are parsed until the first content. From then on a frame that shows a choice where the frames before it
 * did is content and is only counted, a few samples aside. Any other frame (usage, error, [DONE]) is parsed when it
 * comes. Finish reason and usage inside content frames are read from the last few frames when someone asks.
 */
export function watchStream(options: WatchOptions): StreamWatcher {
  return new ChatStreamWatcher(options)
}

class ChatStreamWatcher implements StreamWatcher {
  readonly #dropUsageFrame: boolean
  readonly #frameBytesMax: number
  readonly #ends = new FrameEnds()
  readonly #tail: FrameTail

  /** Pieces of the frame that has not ended yet. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** Bytes already forwarded of a frame that is too large to hold; 0 when there is none. */
  #passedBytes = 0

  #hasContent = false
  #isDone = false
  #servedModel: string | undefined
  #error: GatewayError | undefined
  #choiceMark: ChoiceMark | undefined

  /** Frames with choices since the first content; those of them that were parsed, and the text found in these. */
  #contentFrames = 0
  #sampledFrames = 0
  #sampledTextBytes = 0

  constructor(options: WatchOptions) {
    this.#dropUsageFrame = options.dropUsageFrame
    this.#frameBytesMax = options.frameBytesMax
    this.#tail = new FrameTail(options.frameBytesMax)
  }

  push(chunk: Buffer): WatchedChunk {
    this.#ends.begin(chunk)
    let end = this.#ends.next(0)
    if (end === -1) return this.#told(this.#hold(chunk))

    let bytes = chunk
    let shift = 0
    if (this.#heldBytes > 0) {
      shift = this.#heldBytes
      bytes = Buffer.concat([...this.#held, chunk], shift + chunk.length)
      this.#held = []
      this.#heldBytes = 0
    }
    let start = 0
    let dropped: number[] | undefined
    if (this.#passedBytes > 0) {
      start = end
      this.#endOversized()
      end = this.#ends.next(start)
    }
    while (end !== -1) {
      end += shift
      if (this.#readFrame(bytes, start, end)) {
        dropped ??= []
        dropped.push(start, end)
      }
      start = end
      end = this.#ends.next(start - shift)
    }
    this.#tail.keep(bytes)
    if (start < bytes.length && this.#passes(bytes.length - start)) start = bytes.length
    else if (start < bytes.length) this.#holdRest(bytes, start)
    return this.#told(without(bytes, start, dropped))
  }

  end(): Buffer | undefined {
    if (this.#passedBytes > 0) this.#endOversized()
    if (this.#heldBytes === 0) return undefined
    const bytes = Buffer.concat(this.#held, this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    const drop = this.#readFrame(bytes, 0, bytes.length)
    this.#tail.keep(bytes)
    return drop ? undefined : bytes
  }

  observe(): Observation {
    const last = readTail(this.#tail.frames())
    return {
      usage: last.usage,
      finishReason: last.finishReason,
      servedModel: this.#servedModel,
      error: this.#error ?? last.error,
      complete: this.#isDone || (last.finishReason !== undefined && !last.isOpen),
      outputTokensEstimate: this.#outputTokensEstimate(),
    }
  }

  /**
   * Vendors mostly send a token a frame. Where the frames sampled carry eight bytes of text or more on average, they
   * hold several tokens each, and a token per four bytes is nearer.
   */
  #outputTokensEstimate(): number {
    const textBytes = this.#sampledFrames === 0 ? 0 : this.#sampledTextBytes / this.#sampledFrames
    return Math.ceil(this.#contentFrames * (textBytes < 8 ? 1 : textBytes / 4))
  }

  #told(forward: Buffer | undefined): WatchedChunk {
    return { forward, hasContent: this.#hasContent, terminal: this.#isDone }
  }

  /** Keep a piece of an unfinished frame, or pass on everything held once it is larger than we hold. */
  #hold(piece: Buffer): Buffer | undefined {
    if (this.#passedBytes > 0) {
      this.#passedBytes += piece.length
      return piece
    }
    if (piece.length > 0) this.#held.push(piece)
    this.#heldBytes += piece.length
    if (!this.#passes(this.#heldBytes)) return undefined
    const passed = Buffer.concat(this.#held, this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    return passed
  }

  /** Whether so many bytes of an unfinished frame are too many to hold; from then on it passes as it comes. */
  #passes(frameBytes: number): boolean {
    if (frameBytes <= this.#frameBytesMax) return false
    this.#passedBytes = frameBytes
    this.#hasContent = true
    return true
  }

  #holdRest(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    // A copy of a short rest lets go of the large chunk that it came in.
    this.#held.push(rest.length * 4 < bytes.length ? Buffer.from(rest) : rest)
    this.#heldBytes = rest.length
  }

  #endOversized(): void {
    this.#contentFrames++
    this.#passedBytes = 0
  }

  /** Look at one whole frame; true when the client must not see it. */
  #readFrame(bytes: Buffer, start: number, end: number): boolean {
    const isSkimmed =
      this.#hasContent &&
      end - start <= this.#frameBytesMax &&
      !this.#isSampleDue() &&
      this.#showsChoice(bytes, start, end)
    if (!isSkimmed) return this.#parseFrame(bytes, start, end)
    this.#tail.note(start, end)
    this.#contentFrames++
    return false
  }

  #isSampleDue(): boolean {
    return this.#contentFrames % 64 === 0 || this.#contentFrames === 1 || this.#contentFrames === 8
  }

  /**
   * Whether the frame has `"choices":[{`, spelled and placed as in the frame before it. Text of a user or a model
   * cannot fake it: its quotes are escaped.
   */
  #showsChoice(bytes: Buffer, start: number, end: number): boolean {
    const mark = this.#choiceMark
    if (mark === undefined) return false
    const { spelling } = mark
    const at = start + mark.offset
    if (at + spelling.length <= end) {
      let i = 0
      while (i < spelling.length && bytes[at + i] === spelling[i]) i++
      if (i === spelling.length) return true
    }
    const offset = bytes.subarray(start, end).indexOf(spelling)
    if (offset === -1) return false
    mark.offset = offset
    return true
  }

  #parseFrame(bytes: Buffer, start: number, end: number): boolean {
    if (end - start > this.#frameBytesMax) {
      this.#hasContent = true
      this.#contentFrames++
      return false
    }
    if (isBlankOrComment(bytes, start, end)) return false
    this.#tail.note(start, end)
    const frame = parseFrame(bytes, start, end)
    if (frame === 'done') this.#isDone = true
    if (frame === undefined || frame === 'done') return false

    if (typeof frame.model === 'string' && frame.model !== '') this.#servedModel ??= frame.model
    if (frame.error) this.#error ??= decodeStreamError(frame.error)
    const choices = frame.choices
    if (!Array.isArray(choices)) return false
    if (choices.length === 0) return this.#dropUsageFrame && isRecord(frame.usage)

    if (!this.#showsChoice(bytes, start, end))
      this.#choiceMark = markOf(bytes, start, end) ?? this.#choiceMark
    const textBytes = sumContent(choices)
    if (textBytes !== undefined) this.#hasContent = true
    if (this.#hasContent) {
      this.#contentFrames++
      this.#sampledFrames++
      this.#sampledTextBytes += textBytes ?? 0
    }
    return false
  }
}

/** Where a frame shows that it has a choice: how `"choices":[{` is spelled, and how far from the frame's start. */
interface ChoiceMark {
  offset: number
  readonly spelling: Buffer
}

interface TailFacts extends Pick<Observation, 'usage' | 'finishReason' | 'error'> {
  /** True when a choice went on behind the last finish reason, as the others of several may. */
  isOpen: boolean
}

/** Read frames from the last one backwards, until usage and finish reason are known. */
function readTail(frames: Buffer[]): TailFacts {
  const facts: TailFacts = { usage: undefined, finishReason: undefined, error: undefined, isOpen: false }
  for (const bytes of frames.reverse()) {
    const frame = parseFrame(bytes, 0, bytes.length)
    if (frame === undefined || frame === 'done') continue
    facts.usage ??= readUsage(frame.usage)
    if (frame.error && !facts.error) facts.error = decodeStreamError(frame.error)
    const choices = Array.isArray(frame.choices) ? frame.choices : []
    for (const choice of choices) {
      const reason = isRecord(choice) ? choice.finish_reason : undefined
      if (typeof reason === 'string' && reason !== '') facts.finishReason ??= reason
      else if (facts.finishReason === undefined && contentBytes(choice) !== undefined) facts.isOpen = true
    }
    if (facts.usage && facts.finishReason !== undefined) break
  }
  return facts
}

/** The JSON object of a frame, `done` for the format's own end, undefined for what is neither. */
function parseFrame(bytes: Buffer, start: number, end: number): Json | 'done' | undefined {
  const data = frameData(bytes, start, end)
  if (data === undefined) return undefined
  if (data.trim() === '[DONE]') return 'done'
  try {
    const value: unknown = JSON.parse(data)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function sumContent(choices: unknown[]): number | undefined {
  let sum: number | undefined
  for (const choice of choices) {
    const bytes = contentBytes(choice)
    if (bytes !== undefined) sum = (sum ?? 0) + bytes
  }
  return sum
}

function markOf(bytes: Buffer, start: number, end: number): ChoiceMark | undefined {
  const text = bytes.toString('latin1', start, end)
  const found = /"choices"\s*:\s*\[\s*\{/.exec(text)
  return found ? { offset: found.index, spelling: Buffer.from(found[0]) } : undefined
}

/** The first `end` bytes without the dropped ranges; undefined when nothing is left. */
function without(bytes: Buffer, end: number, dropped: number[] | undefined): Buffer | undefined {
  if (dropped === undefined)
    return end === 0 ? undefined : end === bytes.length ? bytes : bytes.subarray(0, end)
  const pieces: Buffer[] = []
  let from = 0
  for (let i = 0; i < dropped.length; i += 2) {
    pieces.push(bytes.subarray(from, dropped[i]))
    from = dropped[i + 1] ?? end
  }
  pieces.push(bytes.subarray(from, end))
  const kept = Buffer.concat(pieces)
  return kept.length === 0 ? undefined : kept
}
