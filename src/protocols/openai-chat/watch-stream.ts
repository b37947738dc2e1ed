import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { Observation, StreamWatcher, WatchedChunk, WatchOptions } from '../protocol.ts'
import { FrameEnds, frameData, isBlankOrComment } from '../sse.ts'
import { brokenOffBy, errorIn, isSilent } from './answer-failure.ts'
import { type ChoiceMark, comparisonView, markOf } from './choice-mark.ts'
import { FrameTail } from './tail.ts'
import { contentBytes, usageIn } from './wire.ts'

/**
 * Watches a `/chat/completions` stream. Never throws.
 *
 * Parses as few frames as possible: all frames until the first content. After that, a frame with a choice at
 * the usual offset counts as content and is not parsed, except for a few samples. All other frames (usage,
 * error, [DONE]) are parsed. `observe` reads the finish reason and the usage of content frames from the last
 * few frames.
 */
export function watchStream(options: WatchOptions): StreamWatcher {
  return new ChatStreamWatcher(options)
}

class ChatStreamWatcher implements StreamWatcher {
  readonly #dropUsageFrame: boolean
  readonly #frameBytesMax: number
  readonly #ends = new FrameEnds()
  readonly #tail = new FrameTail()

  /** Pieces of the unfinished frame. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** The number of forwarded bytes of a frame that is too large to hold; 0 if there is none. */
  #passedBytes = 0

  #hasContent = false
  #isDone = false
  #servedModel: string | undefined
  #error: GatewayError | undefined
  #choiceMark: ChoiceMark | undefined

  /**
   * Frames with choices since the first content, how many of them were parsed, and the number of text bytes
   * in those.
   */
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
    // An error before any content ends the answer. A later error is forwarded, together with what follows it.
    const isNone = !this.#hasContent && this.#error !== undefined
    return { forward, hasContent: this.#hasContent, terminal: this.#isDone || isNone }
  }

  end(): Buffer | undefined {
    if (this.#passedBytes > 0) this.#endOversized()
    if (this.#heldBytes === 0) return undefined
    const frame = this.#takeHeld()
    return this.#readWholeFrame(frame) ? undefined : frame
  }

  observe(): Observation {
    const last = readTail(this.#tail.frames())
    const complete = this.#isDone || (last.finishReason !== undefined && !last.isOpen)
    const isNone = complete && !this.#hasContent && isSilent(last.finishReason, last.usage)
    const none =
      brokenOffBy(last.finishReason) ?? (isNone ? gatewayError('upstream_answer_empty') : undefined)
    return {
      usage: last.usage,
      finishReason: last.finishReason,
      servedModel: this.#servedModel,
      error: this.#error ?? last.error,
      complete,
      ...(none && { none }),
      outputTokensEstimate: this.#outputTokensEstimate(),
    }
  }

  /**
   * Most vendors send one token per frame. If the sampled frames average at least eight bytes of text, they
   * contain several tokens, and one token per four bytes is a better estimate.
   */
  #outputTokensEstimate(): number {
    const textBytes = this.#sampledFrames === 0 ? 0 : this.#sampledTextBytes / this.#sampledFrames
    return Math.ceil(this.#contentFrames * (textBytes < 8 ? 1 : textBytes / 4))
  }

  /**
   * Reads a chunk whose first frame ends at `firstEnd`. Copies only the bytes of frames that started in an
   * earlier chunk.
   */
  #pushFrames(chunk: Buffer, firstEnd: number, forward: Buffer[]): void {
    /** The bytes before this offset have been forwarded or dropped. */
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
    const words = comparisonView(chunk)
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

  /** Holds a piece of an unfinished frame. Forwards all pieces if the frame becomes too large. */
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

  /**
   * Whether an unfinished frame of this size is too large to hold. If so, it is forwarded in pieces from here
   * on.
   */
  #passes(frameBytes: number): boolean {
    if (frameBytes <= this.#frameBytesMax) return false
    this.#passedBytes = frameBytes
    this.#hasContent = true
    return true
  }

  #holdRest(bytes: Buffer, start: number): void {
    const rest = bytes.subarray(start)
    // A view of a short rest would keep the whole chunk in memory.
    this.#held.push(rest.length * 4 < bytes.length ? Buffer.from(rest) : rest)
    this.#heldBytes = rest.length
  }

  #endOversized(): void {
    this.#contentFrames++
    this.#passedBytes = 0
  }

  /** Reads a frame in its own buffer. Returns true if the frame must be hidden from the client. */
  #readWholeFrame(frame: Buffer): boolean {
    const isDropped = this.#readFrame(frame, comparisonView(frame), 0, frame.length)
    this.#tail.keep(frame)
    return isDropped
  }

  /** Reads one complete frame. Returns true if the frame must be hidden from the client. */
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
    // Anything that is not an event could be content.
    if (!this.#hasContent && !isEvent(bytes, start, end)) this.#hasContent = true
    this.#tail.note(start, end)
    const frame = parseFrame(bytes, start, end)
    if (frame === 'done') this.#isDone = true
    if (frame === undefined || frame === 'done') return false

    if (typeof frame.model === 'string' && frame.model !== '') this.#servedModel ??= frame.model
    const choices = frame.choices
    this.#error ??= errorIn(frame, Array.isArray(choices) ? choices[0] : undefined)
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
  /** Whether content of another choice arrived after the last finish reason. */
  isOpen: boolean
}

/** Reads frames backwards from the last one until usage and finish reason are known. */
function readTail(frames: Buffer[]): TailFacts {
  const facts: TailFacts = { usage: undefined, finishReason: undefined, error: undefined, isOpen: false }
  for (const bytes of frames.reverse()) {
    const frame = parseFrame(bytes, 0, bytes.length)
    if (frame === undefined || frame === 'done') continue
    facts.usage ??= usageIn(frame)
    const choices = Array.isArray(frame.choices) ? frame.choices : []
    facts.error ??= errorIn(frame, choices[0])
    for (const choice of choices) {
      const reason = isRecord(choice) ? choice.finish_reason : undefined
      if (typeof reason === 'string' && reason !== '') facts.finishReason ??= reason
      else if (facts.finishReason === undefined && contentBytes(choice) !== undefined) facts.isOpen = true
    }
    if (facts.usage && facts.finishReason !== undefined) break
  }
  return facts
}

/** The JSON object of a frame, `done` for the format's end marker, or undefined for anything else. */
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

function isEvent(bytes: Buffer, start: number, end: number): boolean {
  return /^(?:data|event|id|retry)\b/.test(bytes.toString('latin1', start, Math.min(end, start + 6)))
}

function sumContent(choices: unknown[]): number | undefined {
  let sum: number | undefined
  for (const choice of choices) {
    const bytes = contentBytes(choice)
    if (bytes !== undefined) sum = (sum ?? 0) + bytes
  }
  return sum
}
