import type { ReasoningSignature } from '../../canonical/chat.ts'
import { gatewayError } from '../../canonical/error.ts'
import type { FinishReason } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { EventWriter } from '../event-writer.ts'
import { brokenOff, readFinishWord } from '../finish-words.ts'
import { Losses, noMedia, noSourceUrl } from '../losses.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import { CallDecoder } from './decode-calls.ts'
import {
  reasoningContentSignature,
  reasoningMemberSignature,
  writeDetailSignature,
  writeExtraSignature,
} from './wire.ts'

/**
 * Decodes one choice of an answer: the deltas of a stream one by one, or a complete message, which has the
 * same members.
 */
export class ChoiceDecoder {
  readonly #writer: EventWriter
  readonly #upstreamModel: string
  readonly #calls: CallDecoder
  #open: OpenBlock | undefined
  /** The number of content characters so far. Citation offsets are relative to the start of the content. */
  #contentLength = 0
  #hasRefusal = false
  #hasTranscript = false
  readonly #losses = new Losses()
  /** Sources of the whole answer. They are cited at the end of a text. */
  #sources: readonly CitedSource[] = []
  readonly #cited = new Set<string>()

  constructor(writer: EventWriter, context: DecodeAnswerContext) {
    this.#writer = writer
    this.#upstreamModel = context.upstreamModel
    this.#calls = new CallDecoder(writer, context)
  }

  get hasText(): boolean {
    return this.#contentLength > 0
  }

  take(delta: Json): void {
    this.#takeReasoning(delta)
    if (isRecord(delta.extra_content)) this.#takeExtra(delta.extra_content)
    this.#takeContent(delta.content)
    if (isRecord(delta.audio)) this.#takeAudio(delta.audio)
    if (recordsOf(delta.images).length > 0) this.#losses.add('images', noMedia)
    const refusal = textOf(delta.refusal)
    if (refusal !== undefined) {
      this.#hasRefusal = true
      this.#writer.text(this.#begin('refusal'), refusal)
    }
    for (const annotation of recordsOf(delta.annotations)) this.#takeAnnotation(annotation)
    const calls = recordsOf(delta.tool_calls)
    if (calls.length > 0 || isRecord(delta.function_call)) this.#close()
    for (const call of calls) this.#calls.take(call)
    if (isRecord(delta.function_call)) this.#calls.take({ index: 0, function: delta.function_call })
  }

  /** Reads the members next to the choices. */
  takeBeside(answer: Json): void {
    const sources = sourcesIn(answer)
    if (sources.length > 0) this.#sources = sources
  }

  /** Does the same as `take` for a delta that contains only this content. */
  takeText(text: string): void {
    if (text === '') return
    this.#writer.text(this.#begin('text'), text)
    this.#contentLength += text.length
  }

  /**
   * Ends all open blocks and finishes. `word`: the upstream's finish reason, if it sent one. `answerId`: the
   * basis of ids for calls that have none. Throws GatewayError `upstream_error` if the answer is incomplete.
   */
  finish(end: { word: string | undefined; usage: Usage | undefined; answerId: string | undefined }): void {
    const reason = end.word === undefined ? 'stop' : readFinishWord(end.word)
    if (reason === undefined) throw brokenOff(end.word)
    this.#close()
    this.#calls.end(end.answerId)
    if (this.#writer.blocks === 0 && this.#losses.hasAny) {
      throw gatewayError('upstream_answer_untranslatable', { what: 'only images or audio' })
    }
    if (this.#sources.length > 0)
      this.#losses.add('citations', 'the answer has no text to which they could apply')
    this.#writer.push({
      type: 'finish',
      reason: this.#trueReason(reason),
      upstreamReason: end.word,
      stopSequence: undefined,
      usage: end.usage,
      ...this.#losses.member(),
    })
  }

  /** Some upstreams report `stop` after tool calls, or `tool_calls` without any call. */
  #trueReason(reason: FinishReason): FinishReason {
    if (reason !== 'stop' && reason !== 'tool_calls') return reason
    if (this.#calls.count > 0) return 'tool_calls'
    return this.#hasRefusal ? 'refusal' : 'stop'
  }

  #takeContent(content: unknown): void {
    if (typeof content === 'string') this.takeText(content)
    // Mistral's thinking models return lists of parts: https://docs.mistral.ai/capabilities/reasoning
    for (const part of recordsOf(content)) {
      if (part.type === 'text') this.takeText(textOf(part.text) ?? '')
      else if (part.type === 'thinking') {
        const thought = recordsOf(part.thinking).map((piece) => textOf(piece.text) ?? '')
        this.#think('reasoning_content', textOf(part.thinking) ?? thought.join(''))
      }
    }
  }

  /** The transcript of a spoken answer becomes its text if it has no other text. */
  #takeAudio({ transcript, data }: Json): void {
    if (textOf(data) !== undefined) this.#losses.add('audio', 'only the transcript is passed on')
    const text = textOf(transcript)
    if (text === undefined || (this.#contentLength > 0 && !this.#hasTranscript)) return
    this.#hasTranscript = true
    this.takeText(text)
  }

  /**
   * Reads DeepSeek's `reasoning_content`, and OpenRouter's `reasoning_details`, which repeat the text of
   * `reasoning`.
   */
  #takeReasoning(delta: Json): void {
    let hasText = false
    for (const detail of recordsOf(delta.reasoning_details)) hasText = this.#takeDetail(detail) || hasText
    if (hasText) return
    const content = textOf(delta.reasoning_content)
    if (content !== undefined) this.#think('reasoning_content', content)
    else this.#think('reasoning', textOf(delta.reasoning) ?? '')
  }

  #think(member: 'reasoning_content' | 'reasoning', text: string): void {
    if (text === '') return
    this.#writer.text(this.#begin('reasoning', member), text)
    this.#open?.thought.push(text)
  }

  /**
   * Returns whether the element has text. https://openrouter.ai/docs/use-cases/reasoning-tokens, read
   * 2026-11-21
   */
  #takeDetail(detail: Json): boolean {
    const isSummary = detail.type === 'reasoning.summary'
    const data = textOf(detail.data)
    if (data !== undefined) {
      this.#close()
      this.#signAndClose(this.#begin('reasoning'), 'encrypted', detail)
      return false
    }
    const text = textOf(isSummary ? detail.summary : detail.text)
    const isSigned = textOf(detail.signature) !== undefined
    if (text === undefined && !isSigned) return false
    if (this.#isRepeated(text)) {
      if (isSigned) this.#signEarlier(detail)
      return true
    }
    const key = `${isSummary ? 'summary' : 'text'} ${typeof detail.index === 'number' ? detail.index : ''}`
    const index = this.#begin('reasoning', key)
    this.#writer.text(index, text ?? '')
    if (isSigned) this.#signAndClose(index, 'signature', detail)
    return text !== undefined
  }

  /**
   * Whether the same reasoning already arrived without its signature. Some gateways repeat it in full next to
   * the signature, as we do.
   */
  #isRepeated(text: string | undefined): boolean {
    return text !== undefined && this.#open?.kind === 'reasoning' && this.#open.thought.join('') === text
  }

  /** Reads data that the vendor expects back with the message, such as the signature of a thought. */
  #takeExtra(extra: Json): void {
    this.#close()
    this.#sign(this.#begin('reasoning'), 'encrypted', writeExtraSignature('message', extra))
    this.#close()
  }

  #signEarlier(detail: Json): void {
    if (this.#open === undefined) return
    // This signature replaces our own, which would only record the member's name.
    this.#open.key = ''
    this.#signAndClose(this.#open.index, 'signature', detail)
  }

  #signAndClose(index: number, kind: ReasoningSignature['kind'], detail: Json): void {
    this.#sign(index, kind, writeDetailSignature(detail))
    this.#close()
  }

  #sign(index: number, kind: ReasoningSignature['kind'], value: string): void {
    const signature: ReasoningSignature = { protocol: 'openai-chat', model: this.#upstreamModel, kind, value }
    this.#writer.delta(index, { type: 'signature', signature })
  }

  #takeAnnotation(annotation: Json): void {
    const citation = annotation.url_citation
    const open = this.#open
    const url = isRecord(citation) ? textOf(citation.url) : undefined
    if (!isRecord(citation) || url === undefined || open?.kind !== 'text') {
      this.#losses.add('annotations', noSourceUrl)
      return
    }
    this.#cited.add(url)
    const start = offset(citation.start_index, open.contentStart)
    const end = offset(citation.end_index, open.contentStart)
    this.#writer.delta(open.index, {
      type: 'citation',
      url,
      title: textOf(citation.title),
      ...(start === undefined ? {} : { start }),
      ...(end === undefined ? {} : { end }),
      ...citedWords(citation),
    })
  }

  #citeSources(index: number): void {
    for (const { url, title } of this.#sources) {
      if (!this.#cited.has(url)) this.#writer.delta(index, { type: 'citation', url, title })
    }
    this.#sources = []
  }

  /** Returns the index of the open block if it has this kind and key, or else of a new block. */
  #begin(kind: OpenBlock['kind'], key = ''): number {
    if (this.#open?.kind === kind && this.#open.key === key) return this.#open.index
    this.#close()
    this.#calls.endWhole()
    const index = this.#writer.start(
      kind === 'reasoning' ? { type: kind, summary: key.startsWith('summary') } : { type: kind },
    )
    this.#open = { kind, key, index, contentStart: this.#contentLength, thought: [] }
    return index
  }

  #close(): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (open.kind === 'text') this.#citeSources(open.index)
    // The reasoning must be sent back in the same member: upstreams that send `reasoning` refuse
    // `reasoning_content`. https://github.com/Kilo-Org/kilocode/issues/10375, read 2026-11-21
    if (open.key === 'reasoning') this.#sign(open.index, 'signature', reasoningMemberSignature)
    if (open.key === 'reasoning_content') this.#sign(open.index, 'signature', reasoningContentSignature)
    this.#writer.end(open.index)
  }
}

interface OpenBlock {
  kind: 'text' | 'reasoning' | 'refusal'
  key: string
  index: number
  /** The number of content characters before the block. */
  contentStart: number
  /** Pieces of reasoning that arrived without a signature. */
  thought: string[]
}

/**
 * OpenRouter provides the text of the page: https://openrouter.ai/docs/features/web-search, read 2026-11-22
 */
function citedWords({ content }: Json): { citedText?: string } {
  const citedText = textOf(content)
  return citedText === undefined ? {} : { citedText }
}

function offset(value: unknown, contentStart: number): number | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
  return Math.max(0, value - contentStart)
}

/** A source of the whole answer. */
interface CitedSource {
  url: string
  title: string | undefined
}

/**
 * The sources that an answer or a chunk lists next to its choices, as Perplexity does: `citations` are URLs,
 * and `search_results` have titles. Each chunk repeats the list so far.
 *
 * https://github.com/perplexityai/perplexity-node/blob/HEAD/src/resources/chat/chat.ts, read 2026-11-22
 */
function sourcesIn({ citations, search_results }: Json): CitedSource[] {
  const results = recordsOf(search_results)
  const titles = new Map(results.map(({ url, title }) => [textOf(url), textOf(title)]))
  const urls = Array.isArray(citations) && citations.length > 0 ? citations : [...titles.keys()]
  const sources = new Map<string, CitedSource>()
  for (const value of urls.slice(0, sourcesMax)) {
    const url = textOf(value)
    if (url !== undefined && /^https?:\/\//.test(url)) sources.set(url, { url, title: titles.get(url) })
  }
  return [...sources.values()]
}

const sourcesMax = 1000
