import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import type { Model } from '../catalog/snapshot.ts'
import { allocateBody } from '../http/body.ts'
import { envelopeMark, withoutEnvelopes } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Asked } from '../stages/read.ts'
import { redactError } from '../stages/redact-error.ts'
import type { UpstreamRequest } from '../upstream/upstreams.ts'
import { type AnswerReader, readNative } from './answer-reader.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { noteTranslation } from './note-translation.ts'
import type { Translatable } from './translatable.ts'
import { readOtherKind, translate } from './translate.ts'

/** The request to a target, and the reader of its answer. */
export interface Prepared {
  request: UpstreamRequest
  reader: AnswerReader
}

/**
 * Prepares a request for one target after the other: the client's own bytes for a target of the same format, otherwise a
 * translation. Parses the body only for a translation, and translates it once for each format and model.
 */
export class Preparation {
  readonly #gateway: Gateway
  readonly #asked: Asked
  readonly #upstreamPath: string | undefined
  #json: Json | undefined
  readonly #translations = new Map<string, Translated>()

  /** `upstreamPath`: the path to call in place of the protocol's own. */
  constructor(gateway: Gateway, asked: Asked, upstreamPath: string | undefined) {
    this.#gateway = gateway
    this.#asked = asked
    this.#upstreamPath = upstreamPath
  }

  /** `model`: of the catalog. Throws GatewayError when the target's format cannot express the request. */
  prepare(target: Target, model: Model): Prepared {
    // The notes of an earlier attempt do not apply to this target.
    this.#asked.row.notes = null
    delete this.#asked.headers['x-tollgate-translation']
    return target.native ? this.#passThrough(target, model) : this.#translated(target, model)
  }

  /**
   * The bytes of the largest translation for these targets; 0 if no format can express the request. A translation may be
   * larger than the client's body, and the upstream charges for what it gets.
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
        // We will send nothing to this target. Its attempt records the error.
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
   * The request unchanged, unless it repeats reasoning that other channels gave this client in our envelopes. Then those
   * parts are removed, with a note.
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

  /** Does not throw: an earlier scan has checked the JSON. */
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
    ? 'the upstream answered whole: the parts for which the format has an event are streamed'
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
