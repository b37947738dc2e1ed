import type { ReasoningSignature } from '../../canonical/chat.ts'
import { GatewayError, gatewayError } from '../../canonical/error.ts'
import type { ChatEvent, FinishReason } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { parseKeepingDigits } from '../../canonical/json-digits.ts'
import type { Usage } from '../../canonical/usage.ts'
import { legalCallId } from '../call-ids.ts'
import { inputText } from '../call-input.ts'
import { unwrapCustomInput } from '../custom-tools.ts'
import { EventWriter } from '../event-writer.ts'
import { readFinishWord } from '../finish-words.ts'
import { Losses, noMedia } from '../losses.ts'
import type { DecodeAnswerContext, EventDecoder } from '../protocol.ts'
import { decodeStreamError } from './errors.ts'
import { isPiece, PartialCall } from './partial-call.ts'
import { callIdRules, derivedCallId, readUsage } from './wire.ts'
import { Grounding } from './write-sources.ts'

/**
 * Decodes a complete answer into events. A candidate without a finish reason counts as complete, because the
 * body was received completely. Throws GatewayError for a failed answer that does not report its usage.
 *
 * A blocked prompt results in an answer without blocks that ends with `content_filter`, because the vendor
 * bills it and clients check for that finish reason.
 */
export function decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[] {
  const decoder = new AnswerDecoder(context)
  const events = [...decoder.take(body), ...decoder.end('STOP')]
  const last = events.at(-1)
  if (last?.type === 'error' && last.usage === undefined) throw last.error
  return events
}

/**
 * Decodes a stream, in which each event is a complete response with the next parts. The stream ends only when
 * the bytes end.
 */
export function decodeStream(context: DecodeAnswerContext): EventDecoder {
  const decoder = new AnswerDecoder(context)
  return {
    push(data) {
      const text = data.trim()
      return text === '' || text === '[DONE]' ? [] : decoder.take(parse(text))
    },
    end: () => decoder.end(undefined),
  }
}

function parse(text: string): Json {
  let value: unknown
  try {
    value = parseKeepingDigits(text)
  } catch (cause) {
    throw gatewayError('upstream_answer_unreadable', { what: 'an event that is not JSON' }, { cause })
  }
  if (!isRecord(value))
    throw gatewayError('upstream_answer_unreadable', { what: 'an event that is not a JSON object' })
  return value
}

class AnswerDecoder {
  readonly #context: DecodeAnswerContext
  readonly #callIds = new Set<string>()
  readonly #events = new EventWriter()
  #isStarted = false
  #isOver = false
  #answerId: string | undefined
  #open: { index: number; type: 'text' | 'reasoning' } | undefined
  #calls = 0
  #endReason: string | undefined
  #endMessage: string | undefined
  #isBlocked = false
  #usage: Usage | undefined
  /** The call whose arguments are arriving in pieces. */
  #partial: PartialCall | undefined
  readonly #losses = new Losses()
  /** The media type of the first part that is lost. */
  #lostType: string | undefined
  readonly #grounding = new Grounding(this.#events, this.#losses)

  constructor(context: DecodeAnswerContext) {
    this.#context = context
  }

  take(response: Json): ChatEvent[] {
    if (this.#isOver) return []
    const usage = readUsage(response.usageMetadata)
    this.#usage = usage ?? this.#usage
    if (response.error !== undefined && response.error !== null)
      return this.#fail(decodeStreamError(response.error))
    this.#start(response, usage)
    const blockReason = isRecord(response.promptFeedback)
      ? textOf(response.promptFeedback.blockReason)
      : undefined
    if (blockReason !== undefined) {
      this.#isBlocked = true
      this.#endReason ??= blockReason
    }
    const candidate = recordsOf(response.candidates).find(({ index }) => index === undefined || index === 0)
    try {
      if (candidate !== undefined) this.#takeCandidate(candidate)
    } catch (error) {
      if (error instanceof GatewayError) return this.#fail(error)
      throw error
    }
    return this.#events.take()
  }

  /** `reasonDefault` is used if there is no finish reason. */
  end(reasonDefault: string | undefined): ChatEvent[] {
    if (this.#isOver) return []
    const reason = this.#endReason ?? (this.#isStarted && this.#hasContent() ? reasonDefault : undefined)
    if (reason === undefined) {
      const error =
        reasonDefault === undefined
          ? gatewayError('upstream_ended_early')
          : gatewayError('upstream_answer_unreadable', { what: 'no answer in the Gemini format' })
      return this.#fail(error)
    }
    this.#close()
    this.#grounding.writeSearch(this.#answerId)
    // An answer that was cut off ends without its last call.
    if (this.#partial !== undefined && reason !== 'MAX_TOKENS') return this.#fail(unfinishedCall())
    if (this.#lostType !== undefined && !this.#hasContent()) return this.#fail(cannotCarry(this.#lostType))
    const end = finishOf(reason, {
      message: this.#endMessage,
      isBlocked: this.#isBlocked,
      hasCalls: this.#calls > 0,
      hasContent: this.#hasContent(),
    })
    if (end instanceof GatewayError) return this.#fail(end)
    this.#events.push({
      type: 'finish',
      reason: end,
      upstreamReason: reason,
      stopSequence: undefined,
      usage: this.#countedUsage(),
      ...this.#losses.member(),
    })
    this.#isOver = true
    return this.#events.take()
  }

  #countedUsage(): Usage | undefined {
    const usage = this.#usage
    const webSearches = this.#grounding.searches
    return usage === undefined || webSearches === 0 ? usage : { ...usage, webSearches }
  }

  #fail(error: GatewayError): ChatEvent[] {
    this.#isOver = true
    this.#events.push({ type: 'error', error, usage: this.#countedUsage() })
    return this.#events.take()
  }

  #hasContent(): boolean {
    return this.#events.blocks > this.#grounding.blocks
  }

  #start(response: Json, usage: Usage | undefined): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#answerId = textOf(response.responseId)
    this.#events.push({ type: 'start', id: this.#answerId, model: textOf(response.modelVersion), usage })
  }

  #takeCandidate(candidate: Json): void {
    this.#grounding.take(candidate)
    if (!this.#hasContent()) this.#grounding.writeSearch(this.#answerId)
    const parts = isRecord(candidate.content) ? recordsOf(candidate.content.parts) : []
    for (const part of parts) this.#takePart(part)
    if (this.#open?.type === 'text') this.#grounding.cite(this.#open.index)
    this.#endReason = textOf(candidate.finishReason) ?? this.#endReason
    this.#endMessage = textOf(candidate.finishMessage) ?? this.#endMessage
  }

  #takePart(part: Json): void {
    const signature = textOf(part.thoughtSignature)
    const text = textOf(part.text)
    if (isRecord(part.functionCall)) {
      if (this.#partial !== undefined || isPiece(part.functionCall))
        this.#takePiece(part.functionCall, signature)
      else this.#takeCall(part.functionCall, signature)
      return
    }
    if (part.thought === true) {
      if (text === undefined && signature === undefined) return
      const index = this.#ensure('reasoning')
      if (text !== undefined) this.#events.text(index, text)
      if (signature === undefined) return
      this.#events.delta(index, { type: 'signature', signature: this.#sign('signature', signature) })
      this.#close()
      return
    }
    // A signature belongs to one part, so its text must not be joined with the text of earlier parts.
    if (signature !== undefined) this.#addSignature(this.#sign('encrypted', signature))
    if (text !== undefined) this.#addText(text)
    if (isRecord(part.inlineData)) {
      this.#losses.add('parts[].inlineData', noMedia)
      this.#lostType ??= textOf(part.inlineData.mimeType) ?? 'data'
    }
    for (const [name, value] of Object.entries(part)) {
      if (isRecord(value) && !carried.has(name))
        this.#losses.add(`parts[].${name}`, 'other formats have no equivalent of this part')
    }
  }

  /**
   * Only the first piece of a call contains its name. The call is complete with the first piece that does not
   * announce another one.
   */
  #takePiece(call: Json, signature: string | undefined): void {
    const partial = this.#partial ?? new PartialCall(call)
    const isOther = textOf(call.name) !== undefined && textOf(call.name) !== partial.name
    if (isOther) throw unfinishedCall()
    this.#partial = partial
    partial.signature ??= signature
    partial.add(call.partialArgs)
    if (call.willContinue === true) return
    this.#partial = undefined
    this.#takeCall({ name: partial.name, id: partial.id, args: partial.args }, partial.signature)
  }

  #takeCall(call: Json, signature: string | undefined): void {
    const wireName = textOf(call.name)
    if (wireName === undefined)
      throw gatewayError('upstream_call_broken', { how: 'sent a tool call without a name.' })
    const tool = this.#context.tools?.clientTool(wireName) ?? { name: wireName, kind: 'function' as const }
    const input = inputOf(call.args, tool.kind)
    const id = this.#callId(textOf(call.id), wireName, input)
    // The signature is stored with the call's id, so that it can be matched when the client sends it back.
    if (signature !== undefined) this.#addSignature({ ...this.#sign('encrypted', signature), id })
    this.#close()
    const index = this.#events.start({ type: 'tool-call', id, ...tool })
    this.#events.text(index, input)
    this.#events.end(index)
    this.#calls++
  }

  /** An id that is valid in every format and unique within this answer. */
  #callId(given: string | undefined, name: string, input: string): string {
    const legal = given === undefined ? undefined : legalCallId(given, callIdRules)
    const id =
      legal === undefined || this.#callIds.has(legal)
        ? derivedCallId(this.#answerId ?? this.#context.answerSeed, this.#calls, name, input)
        : legal
    this.#callIds.add(id)
    return id
  }

  #sign(kind: ReasoningSignature['kind'], value: string): ReasoningSignature {
    return { protocol: 'gemini', model: this.#context.upstreamModel, kind, value }
  }

  #addSignature(signature: ReasoningSignature): void {
    this.#close()
    const index = this.#events.start({ type: 'reasoning', summary: true })
    this.#events.delta(index, { type: 'signature', signature })
    this.#events.end(index)
  }

  #addText(text: string): void {
    const index = this.#ensure('text')
    this.#grounding.addText(text)
    this.#events.text(index, text)
  }

  /** Returns the index of the open block if it has this type, or else of a new block. */
  #ensure(type: 'text' | 'reasoning'): number {
    if (this.#open?.type === type) return this.#open.index
    this.#close()
    const index = this.#events.start(type === 'text' ? { type } : { type, summary: true })
    if (type === 'text') this.#grounding.beginText()
    this.#open = { index, type }
    return index
  }

  #close(): void {
    if (this.#open === undefined) return
    const { index, type } = this.#open
    if (type === 'text') this.#grounding.cite(index)
    this.#open = undefined
    this.#events.end(index)
  }
}

/**
 * Members of parts that are represented by events, are reported by a note of their own, or are meaningless on
 * their own.
 */
const carried: ReadonlySet<string> = new Set(['functionCall', 'inlineData', 'videoMetadata', 'partMetadata'])

function inputOf(args: unknown, kind: 'function' | 'custom'): string {
  const text = inputText(args) || '{}'
  return kind === 'custom' ? unwrapCustomInput(text) : text
}

function unfinishedCall(): GatewayError {
  return gatewayError('upstream_call_broken', { how: 'did not finish a tool call.' })
}

function cannotCarry(mediaType: string): GatewayError {
  return gatewayError('upstream_answer_untranslatable', { what: mediaType.slice(0, 60) })
}

/**
 * The meaning of the vendor's finish reason, or an error if the answer was aborted. STOP is also used for
 * tool calls, so the result depends on the content.
 *
 * https://ai.google.dev/api/generate-content#FinishReason, read 2026-11-21
 */
function finishOf(
  reason: string,
  answer: { message: string | undefined; isBlocked: boolean; hasCalls: boolean; hasContent: boolean },
): FinishReason | GatewayError {
  const meaning = readFinishWord(reason)
  if (answer.isBlocked || meaning === 'content_filter') return 'content_filter'
  if (reason === 'MAX_TOKENS') return 'length'
  if (meaning === undefined || (reason !== 'STOP' && !answer.hasContent))
    return failed(reason, answer.message)
  if (meaning === 'stop' && answer.hasCalls) return 'tool_calls'
  return meaning
}

const messageCharactersMax = 300

function failed(reason: string, message: string | undefined): GatewayError {
  const more = message === undefined ? '' : `: ${message.slice(0, messageCharactersMax)}`
  return gatewayError('upstream_broke_off', { how: `with ${reason.slice(0, 60)}${more}` })
}
