import type { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { decodeStreamError } from '../openai-errors.ts'
import type { Observation, StreamWatcher, WatchedChunk, WatchOptions } from '../protocol.ts'
import { FrameEnds, frameData, isBlankOrComment } from '../sse.ts'
import { type ChoiceMark, markOf, wordsOf } from './choice-mark.ts'
import { FrameTail } from './tail.ts'
import { contentBytes, readUsage } from './wire.ts'

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
  readonly #tail = new FrameTail()

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
  }

  push(chunk: Buffer): WatchedChunk {
    const forward: Buffer[] = []
    this.#ends.begin(chunk)
    const end = this.#ends.next(0)
    if (end === -1) this.#hold(chunk, forward)
    else this.#pushFrames(chunk, end, forward)
    return { forward, hasContent: this.#hasContent, terminal: this.#isDone }
  }

  end(): Buffer | undefined {
    if (this.#passedBytes > 0) this.#endOversized()
    if (this.#heldBytes === 0) return undefined
    const frame = this.#takeHeld()
    return this.#readWholeFrame(frame) ? undefined : frame
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

  /** Read a chunk in which a frame ends, first at `firstEnd`. No byte is copied but those of frames that it shares. */
  #pushFrames(chunk: Buffer, firstEnd: number, forward: Buffer[]): void {
    /** What stands before is forwarded already, or dropped. */
    let sent = 0
    let start = 0
    if (this.#passedBytes > 0) {
      this.#endOversized()
      start = firstEnd
    } else if (this.#heldBytes > 0) {
      this.#held.push(chunk.subarray(0, firstEnd))
      this.#heldBytes += firstEnd
      const frame = this.#takeHeld()
      if (!this.#readWholeFrame(frame)) forward.push(frame)
      sent = firstEnd
      start = firstEnd
    }
    const words = wordsOf(chunk)
    for (
      let end = start === 0 ? firstEnd : this.#ends.next(start);
      end !== -1;
      end = this.#ends.next(start)
    ) {
      if (this.#readFrame(chunk, words, start, end)) {
        if (start > sent) forward.push(chunk.subarray(sent, start))
        sent = end
      }
      start = end
    }
    this.#tail.keep(chunk)
    if (start < chunk.length && this.#passes(chunk.length - start)) start = chunk.length
    else if (start < chunk.length) this.#holdRest(chunk, start)
    if (start > sent) forward.push(sent === 0 && start === chunk.length ? chunk : chunk.subarray(sent, start))
  }

  /** Keep a piece of an unfinished frame, or pass on everything held once it is larger than we hold. */
  #hold(piece: Buffer, forward: Buffer[]): void {
    if (piece.length === 0) return
    if (this.#passedBytes > 0) {
      this.#passedBytes += piece.length
      forward.push(piece)
      return
    }
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (!this.#passes(this.#heldBytes)) return
    forward.push(...this.#held)
    this.#held = []
    this.#heldBytes = 0
  }

  #takeHeld(): Buffer {
    const held = Buffer.concat(this.#held, this.#heldBytes)
    this.#held = []
    this.#heldBytes = 0
    return held
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

  /** Look at a frame in a buffer of its own; true when the client must not see it. */
  #readWholeFrame(frame: Buffer): boolean {
    const isDropped = this.#readFrame(frame, wordsOf(frame), 0, frame.length)
    this.#tail.keep(frame)
    return isDropped
  }

  /** Look at one whole frame; true when the client must not see it. */
  #readFrame(bytes: Buffer, words: DataView | undefined, start: number, end: number): boolean {
    const isSkimmed =
      this.#hasContent &&
      end - start <= this.#frameBytesMax &&
      !this.#isSampleDue() &&
      this.#choiceMark?.isIn(bytes, words, start, end) === true
    if (!isSkimmed) return this.#parseFrame(bytes, words, start, end)
    this.#tail.note(start, end)
    this.#contentFrames++
    return false
  }

  #isSampleDue(): boolean {
    const count = this.#contentFrames
    return count % 64 === 0 ? count <= 512 || count % 1024 === 0 : count === 1 || count === 8
  }

  #parseFrame(bytes: Buffer, words: DataView | undefined, start: number, end: number): boolean {
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

    if (this.#choiceMark?.isIn(bytes, words, start, end) !== true)
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
