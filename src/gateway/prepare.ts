import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import type { Model } from '../catalog/snapshot.ts'
import { allocateBody } from '../http/body.ts'
import { envelopeMark, withoutEnvelopes } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Asked } from '../stages/read.ts'
import type { Received } from '../stages/received.ts'
import { redactError } from '../stages/redact-error.ts'
import type { UpstreamRequest } from '../upstream/upstreams.ts'
import { type AnswerReader, readNative } from './answer-reader.ts'
import type { Translatable } from './translatable.ts'
import { readOtherKind, translate } from './translate.ts'

/** What is sent to a target, and how its answer is read. */
export interface Prepared {
  request: UpstreamRequest
  reader: AnswerReader
}

/**
 * A request made ready for one target after the other: the client's own bytes where both speak the same, else a
 * translation. The body is parsed only for a translation, and translated once for each format and model.
 */
export class Preparation {
  readonly #gateway: Gateway
  readonly #asked: Asked
  readonly #upstreamPath: string | undefined
  #json: Json | undefined
  readonly #translations = new Map<string, Translated>()

  /** `upstreamPath`: where the request goes, if not where the channel's protocol says. */
  constructor(gateway: Gateway, asked: Asked, upstreamPath: string | undefined) {
    this.#gateway = gateway
    this.#asked = asked
    this.#upstreamPath = upstreamPath
  }

  /** `model`: of the catalog. Throws GatewayError where the request cannot be said in the target's format. */
  prepare(target: Target, model: Model): Prepared {
    // What an earlier attempt noted of its translation is no longer true.
    this.#asked.row.notes = null
    delete this.#asked.headers['x-tollgate-translation']
    return target.native ? this.#passThrough(target, model) : this.#translated(target, model)
  }

  /**
   * Most bytes that the request has in the formats of these targets, 0 where none can say it: a translation may be
   * larger than what the client sent, and the upstream charges for what it gets.
   */
  largestTranslation(targets: readonly Candidate[], model: Model): number {
    let largest = 0
    const seen = new Set<string>()
    for (const target of targets) {
      if (seen.has(target.protocol)) continue
      seen.add(target.protocol)
      try {
        largest = Math.max(largest, this.#translationFor(target, model).body.length)
      } catch (error) {
        // Nothing will be sent there. The attempt tells why.
        if (!(error instanceof GatewayError)) throw error
      }
    }
    return largest
  }

  #passThrough(target: Target, model: Model): Prepared {
    const { native } = upstreamSide(target.protocol)
    if (native === undefined) throw new Error(`no client speaks ${target.protocol}`)
    const { facts, body } = this.#withOwnReasoning(target)
    const bytes = native.patchRequest(body, facts, {
      model: target.upstreamModel,
      allocate: (size) => allocateBody(size, this.#asked.life.slabs),
    })
    const options = {
      dropUsageFrame: facts.stream && !facts.wantsUsageFrame,
      frameBytesMax: this.#gateway.bounds.sseFrameBytesMax,
    }
    const reader: AnswerReader = readNative(native, options, () => {
      const otherReader = readOtherKind(this.#translatable(model), target, facts.keepsAnswer)
      if (otherReader === undefined) return reader
      noteTranslation(this.#asked, target, [...(this.#asked.row.notes ?? []), rewrittenNote(facts.stream)])
      return otherReader
    })
    return { request: this.#requestTo(target, bytes, forwardedHeaders(this.#gateway, this.#asked)), reader }
  }

  /**
   * The request as it came, unless it repeats reasoning that other channels gave this client in our envelopes: those
   * parts are left out, which is noted.
   */
  #withOwnReasoning(target: Target): Pick<Asked, 'body' | 'facts'> {
    const asked = this.#asked
    if (!asked.body.includes(envelopeMark)) return asked
    const { json, notes } = withoutForeignReasoning(this.#parsed())
    if (notes.length === 0) return asked
    noteTranslation(asked, target, notes)
    const body = Buffer.from(JSON.stringify(json))
    return { body, facts: asked.endpoint.client.readRequest(body, this.#gateway.bounds) }
  }

  #translated(target: Target, model: Model): Prepared {
    const { body, notes, reader } = this.#translationFor(target, model)
    noteTranslation(this.#asked, target, notes)
    const { headers } = upstreamSide(target.protocol)
    return { request: this.#requestTo(target, body, Object.entries(headers).flat()), reader }
  }

  #translationFor(target: Pick<Target, 'protocol' | 'upstreamModel'>, model: Model): Translated {
    const key = `${target.protocol} ${model.id} ${target.upstreamModel}`
    const known = this.#translations.get(key)
    if (known !== undefined) return known
    const { body, notes, reader } = translate(this.#translatable(model), target)
    const translated = { body: Buffer.from(JSON.stringify(body)), notes, reader }
    this.#translations.set(key, translated)
    return translated
  }

  #translatable({ maxOutputTokens }: Model): Translatable {
    const { bounds, envelope } = this.#gateway
    const asked = this.#asked
    return {
      client: asked.endpoint.client,
      body: this.#parsed(),
      requestId: asked.id,
      model: asked.facts.model,
      stream: asked.facts.stream,
      createdAtSeconds: Math.floor(asked.startedAt / 1000),
      inputTokensEstimate: estimateTokens(asked.body.length),
      envelope,
      strict: asked.identity.strict || asked.request.headers['x-tollgate-strict'] === 'true',
      maxOutputTokensDefault: maxOutputTokens ?? bounds.outputTokensDefault,
      frameBytesMax: bounds.sseFrameBytesMax,
      answerSizeMax: bounds.watchedAnswerBytesMax,
      redactError: (error) => redactError(asked, error),
    }
  }

  /** Its shape has been scanned: this does not throw. */
  #parsed(): Json {
    if (this.#json === undefined) {
      const value: unknown = JSON.parse(this.#asked.body.toString('utf8'))
      this.#json = isRecord(value) ? value : {}
    }
    return this.#json
  }

  #requestTo(target: Target, body: Buffer, headers: readonly string[]): UpstreamRequest {
    const { stream } = this.#asked.facts
    const side = upstreamSide(target.protocol)
    return {
      method: 'POST',
      path: this.#upstreamPath ?? side.path({ model: target.upstreamModel, stream }),
      body,
      stream,
      headers,
      authHeaders: side.authHeaders,
    }
  }
}

interface Translated {
  body: Buffer
  notes: readonly TranslationNote[]
  reader: AnswerReader
}

function rewrittenNote(wantsStream: boolean): TranslationNote {
  const reason = wantsStream
    ? 'the upstream answered whole: what of it has an event of the format is streamed'
    : 'the upstream streamed unasked: its events are gathered into an answer'
  return { path: 'stream', action: 'emulated', reason }
}

/** A body without the reasoning that other channels gave this client in our envelopes. */
export function withoutForeignReasoning(body: Json): { json: Json; notes: TranslationNote[] } {
  const notes: TranslationNote[] = []
  const json = withoutEnvelopes(body, '', (path) => {
    notes.push({ path, action: 'dropped', reason: 'reasoning that a model of another channel has sealed' })
  })
  return { json: isRecord(json) ? json : {}, notes }
}

/** Tell the row and the client what became of a request on its way to a target. */
export function noteTranslation(
  { row, headers }: Pick<Received, 'row' | 'headers'>,
  target: Candidate,
  notes: readonly TranslationNote[],
): void {
  row.notes = notes.slice(0, notesMax)
  headers['x-tollgate-translation'] = summaryOf(target, notes)
}

/** What a native channel gets of the client's headers: names and values in turn. */
export function forwardedHeaders(
  { deniedBetas }: Pick<Gateway, 'deniedBetas'>,
  { endpoint, request }: Pick<Received, 'endpoint' | 'request'>,
): readonly string[] {
  const { forwardedHeaders: names, featuresHeader } = endpoint.client
  if (names.length === 0) return noHeaders
  return names.flatMap((name) =>
    [request.headers[name] ?? []].flat().flatMap((value) => {
      const kept = name === featuresHeader ? withoutDenied(value, deniedBetas) : value
      return kept === '' ? [] : [name, kept]
    }),
  )
}

/** Byte for byte where nothing of it is denied. */
function withoutDenied(features: string, denied: ReadonlySet<string>): string {
  const listed = features.split(',').map((feature) => feature.trim())
  return listed.some((feature) => denied.has(feature))
    ? listed.filter((feature) => !denied.has(feature)).join(',')
    : features
}

const noHeaders: readonly string[] = []

/** More than these are not kept on the row. */
const notesMax = 64
const summaryCharactersMax = 512

/** For the response header: the target's protocol and what became of which paths, losses first. */
function summaryOf(target: Candidate, notes: readonly TranslationNote[]): string {
  const parts = [target.protocol as string]
  for (const action of ['dropped', 'emulated', 'clamped', 'defaulted', 'mapped'] as const) {
    const paths = notes.filter((note) => note.action === action).map((note) => note.path)
    if (paths.length > 0) parts.push(`${action}=${[...new Set(paths)].join(',')}`)
  }
  const text = redactText(parts.join('; ')).replace(/[^\x20-\x7e]/g, '?')
  return text.length <= summaryCharactersMax ? text : `${text.slice(0, summaryCharactersMax - 3)}...`
}
