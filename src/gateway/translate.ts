import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import type { AnswerBlock, ChatEvent, Delta } from '../canonical/event.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { SseDecoder } from '../protocols/decode-sse.ts'
import type { Envelope } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import { EventObserver } from '../protocols/observe.ts'
import type {
  AnswerContext,
  ClientSide,
  DecodeAnswerContext,
  StreamWatcher,
  UpstreamSide,
} from '../protocols/protocol.ts'
import type { Target } from '../routing/candidates.ts'
import type { AnswerReader, WholeAnswer } from './answer-reader.ts'

/** What a client wants translated, and how its answer is to be written. */
export interface Translatable {
  client: ClientSide
  /** The client's body, parsed. */
  body: Json
  requestId: string
  model: string
  /** Whether the client wants its answer streamed. */
  stream: boolean
  createdAtSeconds: number
  inputTokensEstimate: number
  envelope: Envelope
  /** What is lost is refused instead. */
  strict: boolean
  maxOutputTokensDefault: number
  frameBytesMax: number
  /** Most that an answer may hold, counted in characters and 64 for each event. */
  answerSizeMax: number
  /** An upstream's error without what the client must not see. */
  redactError(error: GatewayError): GatewayError
}

export interface Translation {
  body: Json
  notes: TranslationNote[]
  reader: AnswerReader
}

/**
 * A request in the words of a target that speaks another format, and a reader that turns its answer back.
 * Throws GatewayError `invalid_request` or `unsupported_parameter`, naming the client's own path.
 */
export function translate(
  wanted: Translatable,
  target: Pick<Target, 'protocol' | 'upstreamModel'>,
): Translation {
  const side = upstreamSide(target.protocol)
  const request = wanted.client.decodeRequest(wanted.body, { envelope: wanted.envelope })
  const { upstreamModel } = target
  const { maxOutputTokensDefault } = wanted
  const { body, notes, tools } = side.encodeRequest(request, { upstreamModel, maxOutputTokensDefault })
  if (wanted.strict) refuseLosses(notes)
  const answer: AnswerContext = { ...wanted, request }
  return { body, notes, reader: new TranslatingReader(wanted, side, { upstreamModel, tools }, answer) }
}

/**
 * The reader of a target that speaks the client's own format, but answers with a stream where none was asked for, or
 * the other way round. Undefined for a request that cannot be read as one of its format, and for one whose answer has
 * more than can be written anew. `keepsAnswer`: the upstream does, under its own id.
 */
export function readOtherKind(
  wanted: Translatable,
  target: Pick<Target, 'protocol' | 'upstreamModel'>,
  keepsAnswer: boolean,
): AnswerReader | undefined {
  try {
    const request = wanted.client.decodeRequest(wanted.body, { envelope: wanted.envelope })
    if (request.choices > 1 || request.logprobs !== undefined) return undefined
    const { upstreamModel } = target
    const answer = { ...wanted, envelope: ownSignatures(wanted.envelope), request }
    return new TranslatingReader(
      wanted,
      upstreamSide(target.protocol),
      { upstreamModel },
      answer,
      keepsAnswer,
    )
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** A client that speaks the format of a signature gets it as it came. Chat Completions has no one place for signatures. */
function ownSignatures(envelope: Envelope): Envelope {
  return {
    ...envelope,
    wrap: (signature) => (signature.protocol === 'openai-chat' ? envelope.wrap(signature) : signature.value),
  }
}

function refuseLosses(notes: readonly TranslationNote[]): void {
  const lost = notes.find((note) => note.action === 'dropped')
  if (lost === undefined) return
  throw new GatewayError(
    'unsupported_parameter',
    `${lost.path}: would be dropped (${lost.reason}), and this key or x-tollgate-strict asks to refuse that. Leave it out, or let it be dropped.`,
    { field: lost.path },
  )
}

class TranslatingReader implements AnswerReader {
  readonly contentType: string
  readonly #wanted: Translatable
  readonly #side: UpstreamSide
  readonly #decoding: DecodeAnswerContext
  readonly #answer: AnswerContext
  readonly #keepsAnswer: boolean

  constructor(
    wanted: Translatable,
    side: UpstreamSide,
    decoding: DecodeAnswerContext,
    answer: AnswerContext,
    keepsAnswer = false,
  ) {
    this.#wanted = wanted
    this.#keepsAnswer = keepsAnswer
    this.#side = side
    this.#decoding = decoding
    this.#answer = answer
    this.contentType = wanted.stream ? 'text/event-stream; charset=utf-8' : 'application/json'
  }

  stream(): StreamWatcher {
    const decoder = new SseDecoder(this.#side.decodeStream(this.#decoding), this.#wanted.frameBytesMax)
    const { client, stream } = this.#wanted
    return new TranslatingWatcher({
      decoder,
      writer: this.#writer(),
      keepAlive: stream ? client.keepAlive : '',
      sizeMax: this.#wanted.answerSizeMax,
    })
  }

  forOtherKind(): AnswerReader {
    return this
  }

  whole(body: Buffer): WholeAnswer {
    const observer = new EventObserver()
    const events = this.#eventsOf(body)
    const writer = this.#writer(this.#contextOf(events))
    let text = ''
    for (const event of events) {
      text += writer.push(event, (written) => observer.take(written))
    }
    return { observation: observer.observe(), body: Buffer.from(text) }
  }

  #eventsOf(body: Buffer): ChatEvent[] {
    try {
      const answer: unknown = JSON.parse(body.toString('utf8'))
      if (isRecord(answer)) return this.#side.decodeResponse(answer, this.#decoding)
    } catch (error) {
      if (error instanceof GatewayError) return [{ type: 'error', error }]
    }
    return []
  }

  #writer(answer = this.#answer): SafeWriter {
    const { client, stream } = this.#wanted
    const writer = stream
      ? client.encodeStream(answer)
      : new WholeWriter(client, (events) => this.#contextOf(events))
    return new SafeWriter(writer, this.#wanted)
  }

  #contextOf([first]: readonly ChatEvent[]): AnswerContext {
    const heldId = this.#keepsAnswer && first?.type === 'start' ? first.id : undefined
    return heldId === undefined ? this.#answer : { ...this.#answer, heldId }
  }
}

interface Writer {
  push(event: ChatEvent): string
}

/** Never throws: what cannot be written is an error of the upstream's, and no error shows what it must not. */
class SafeWriter {
  readonly #writer: Writer
  readonly #wanted: Translatable

  constructor(writer: Writer, wanted: Translatable) {
    this.#writer = writer
    this.#wanted = wanted
  }

  /** `told` hears what was written in fact. */
  push(event: ChatEvent, onWritten: (event: ChatEvent) => void): string {
    const { client, requestId, stream, redactError } = this.#wanted
    const redacted: ChatEvent =
      event.type === 'error' ? { type: 'error', error: redactError(event.error) } : event
    try {
      const text = this.#writer.push(redacted)
      onWritten(redacted)
      return text
    } catch (cause) {
      const error = redacted.type === 'error' ? redacted.error : unwritable(cause)
      onWritten({ type: 'error', error })
      // Without what the format's own writer would repeat of the answer.
      return stream ? client.encodeStreamError(error, requestId).toString() : ''
    }
  }
}

/** JSON that is nested beyond what JSON.stringify bears, for one. */
function unwritable(cause: unknown): GatewayError {
  return new GatewayError(
    'upstream_error',
    'The upstream answered with something that cannot be translated.',
    {
      cause,
    },
  )
}

/** Writes nothing until the answer is whole. */
class WholeWriter implements Writer {
  readonly #client: ClientSide
  readonly #contextOf: (events: readonly ChatEvent[]) => AnswerContext
  readonly #events: ChatEvent[] = []

  constructor(client: ClientSide, contextOf: (events: readonly ChatEvent[]) => AnswerContext) {
    this.#client = client
    this.#contextOf = contextOf
  }

  push(event: ChatEvent): string {
    this.#events.push(event)
    if (event.type !== 'finish') return ''
    return JSON.stringify(this.#client.encodeResponse(this.#events, this.#contextOf(this.#events)))
  }
}

/** Turns a stream into the client's own while it comes: one write for each chunk of the upstream. */
class TranslatingWatcher implements StreamWatcher {
  readonly #decoder: SseDecoder
  readonly #writer: SafeWriter
  readonly #keepAlive: string
  readonly #sizeMax: number
  readonly #observer = new EventObserver()
  #size = 0
  #bytes = 0
  /** What is written before the first content waits: until then another channel may still answer. */
  #waiting: string | undefined = ''

  constructor(parts: { decoder: SseDecoder; writer: SafeWriter; keepAlive: string; sizeMax: number }) {
    this.#decoder = parts.decoder
    this.#writer = parts.writer
    this.#keepAlive = parts.keepAlive
    this.#sizeMax = parts.sizeMax
  }

  push(chunk: Buffer) {
    this.#bytes += chunk.length
    // What decoders hold until it is whole has not been weighed yet.
    const isTooLarge = this.#bytes > heldFactor * this.#sizeMax
    const text = this.#write(isTooLarge ? [tooLarge] : this.#decoder.push(chunk))
    const { hasContent, isOver } = this.#observer
    return { forward: text === '' ? [] : [Buffer.from(text)], hasContent, terminal: isOver }
  }

  end(): Buffer | undefined {
    const text = this.#write(this.#decoder.end())
    return text === '' ? undefined : Buffer.from(text)
  }

  fail(error: GatewayError): Buffer {
    return Buffer.from(this.#write([{ type: 'error', error }]))
  }

  /** From now on the client hears of this channel only. */
  keepAlive(): Buffer {
    const waited = this.#waiting ?? ''
    this.#waiting = undefined
    return Buffer.from(this.#keepAlive === '' ? '' : waited + this.#keepAlive)
  }

  observe() {
    return this.#observer.observe()
  }

  readonly #onWritten = (event: ChatEvent): void => this.#observer.take(event)

  #write(events: readonly ChatEvent[]): string {
    let text = ''
    for (const event of events) {
      if (this.#observer.isOver) break
      const bounded = this.#size > this.#sizeMax ? tooLarge : event
      this.#size += sizeOf(bounded)
      text += this.#writer.push(bounded, this.#onWritten)
    }
    if (this.#waiting === undefined) return text
    this.#waiting += text
    if (!this.#observer.hasContent && !this.#observer.isOver) return ''
    const waited = this.#waiting
    this.#waiting = undefined
    return waited
  }
}

/** Encoders keep of an answer what its format repeats at the end. */
const eventSize = 64
/** Frames of streams are this much larger than what they tell, at most, in any answer that is worth its bytes. */
const heldFactor = 4

function sizeOf(event: ChatEvent): number {
  if (event.type === 'block-start') return eventSize + lengthOf(event.block)
  return event.type === 'block-delta' ? eventSize + deltaLength(event.delta) : eventSize
}

function lengthOf(block: AnswerBlock): number {
  return block.type === 'tool-call' ? block.id.length + block.name.length : 0
}

function deltaLength(delta: Delta): number {
  switch (delta.type) {
    case 'text':
      return delta.text.length
    case 'signature':
      return delta.signature.value.length
    case 'citation':
      return delta.url.length + (delta.title?.length ?? 0)
  }
}

const tooLarge: ChatEvent = {
  type: 'error',
  error: new GatewayError('upstream_error', 'The upstream answered with more than this gateway translates.', {
    fault: 'gateway',
  }),
}
