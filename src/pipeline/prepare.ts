import { createHash } from 'node:crypto'
import { withoutForeignReasoning } from '../bodies/foreign-reasoning.ts'
import { contains } from '../bodies/remembered-bodies.ts'
import { ownBody, type Translated as ThreadTranslated } from '../bodies/thread-jobs.ts'
import type { TranslationTarget } from '../bodies/translate-request.ts'
import { writeJson } from '../bodies/write-json.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { parseKeepingDigits } from '../canonical/json-digits.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Model } from '../catalog/snapshot.ts'
import { type SentMembers, sentMembers } from '../catalog/traits/sent-members.ts'
import { allocateBody } from '../http/body.ts'
import { envelopeMark } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import { addedMembers } from '../protocols/patch-request.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { withoutSealed } from '../protocols/sealed-reasoning.ts'
import { toolsOf } from '../protocols/tool-names.ts'
import type { TurnMemo } from '../protocols/turn-memo.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import { keepShared, takeShared } from '../runtime/shared-memory.ts'
import { own } from '../telemetry/traces/conventions.ts'
import { kinds, type Span } from '../telemetry/traces/span.ts'
import type { UpstreamRequest } from '../upstream/upstreams.ts'
import { type AnswerReader, readBytes, readNative } from './answer-reader.ts'
import type { Gateway } from './gateway.ts'
import { inThread } from './in-thread.ts'
import { bodyWithoutConversation } from './kept/body-without-conversation.ts'
import { namingConversation } from './kept/continue-conversation.ts'
import { type SealedReason, sealedReasons } from './leave-out-unable.ts'
import { namedSession } from './open-record.ts'
import type { Asked } from './read.ts'
import type { Received } from './received.ts'
import { redactError } from './redact-error.ts'
import type { AnswerForm, Translatable } from './translation/answer-writer.ts'
import { readEmbeddings } from './translation/embedding-encoding.ts'
import { noteTranslation } from './translation/note-translation.ts'
import { outputTokensDefault, readOtherKind, readTranslated, translate } from './translation/translate.ts'

/** The client headers that are passed on to a native channel: names and values alternate. */
export function forwardedHeaders(
  { deniedBetas }: Pick<Gateway, 'deniedBetas'>,
  { endpoint, exchange, kept }: Pick<Received, 'endpoint' | 'exchange'> & Pick<Asked, 'kept'>,
): readonly string[] {
  const { forwardedHeaders: names, featuresHeader, threadsFeature } = endpoint.client
  if (names.length === 0) return noHeaders
  const ofThreads = kept?.always === true ? threadsFeature : undefined
  const isDenied = (feature: string) =>
    deniedBetas.has(feature) || (ofThreads !== undefined && feature.startsWith(ofThreads))
  return names.flatMap((name) =>
    [exchange.headers[name] ?? []].flat().flatMap((value) => {
      const left = name === featuresHeader ? without(value, isDenied) : value
      return left === '' ? [] : [name, left]
    }),
  )
}

/** Returns the header unchanged, byte for byte, if it names no denied feature. */
function without(features: string, isDenied: (feature: string) => boolean): string {
  const listed = features.split(',').map((feature) => feature.trim())
  return listed.some(isDenied) ? listed.filter((feature) => !isDenied(feature)).join(',') : features
}

const noHeaders: readonly string[] = []

/** The request to a target, and the reader of its answer. */
export interface Prepared {
  request: UpstreamRequest
  reader: AnswerReader
  notes: readonly TranslationNote[]
  /** The parameters that we set: all of them in a translation, and those that we added in a pass-through. */
  sent(): SentMembers
}

/**
 * Prepares a request for one target after another: the client's own bytes for a target of the same format,
 * otherwise a translation. Parses the body only for a translation, and translates it once for each format and
 * model. The work on a large body is done in a worker thread: wait for `ahead` before calling `prepare`.
 */
export class Preparation {
  readonly #gateway: Gateway
  readonly #asked: Asked
  readonly #upstreamPath: string | undefined
  #json: Json | undefined
  /** Of a remembered conversation. */
  #memo: TurnMemo | undefined
  /** Holds an error for a target whose format cannot express the request. */
  readonly #translations = new Map<string, Translated | Error>()
  /** Only for a large body with reasoning in our envelopes. */
  #own: OwnBody | undefined

  /**
   * `upstreamPath` is the path to call instead of the protocol's own, for a target that speaks the client's
   * format.
   */
  constructor(gateway: Gateway, asked: Asked, upstreamPath: string | undefined) {
    this.#gateway = gateway
    this.#asked = asked
    this.#upstreamPath = upstreamPath
  }

  /**
   * Has a worker thread do the work that `prepare` needs for a large body. Returns undefined when there is
   * nothing to wait for. The promise rejects only with errors that `prepare` would throw.
   */
  ahead(
    target: Pick<Target, 'protocol' | 'native' | 'upstreamModel' | 'traits'>,
    model: Model,
  ): Promise<void> | undefined {
    const { large } = this.#asked
    if (large === undefined) return undefined
    if (target.native) return large.hasEnvelopes && this.#own === undefined ? this.#ownAhead() : undefined
    return this.#translations.has(keyOf(target, model)) ? undefined : this.#translateAhead(target, model)
  }

  /** Has a worker thread make all translations of a large body that `largestTranslation` needs. */
  translateAhead(
    models: readonly { model: Model; translated: readonly Candidate[] }[],
  ): Promise<void> | undefined {
    if (this.#asked.large === undefined) return undefined
    return this.#translateAll(models)
  }

  /**
   * `model` is the catalog's model. Throws a GatewayError when the target's format cannot express the
   * request.
   */
  prepare(target: Target, model: Model): Prepared {
    // The notes of an earlier attempt do not apply to this target.
    this.#asked.row.notes = null
    delete this.#asked.headers['x-tollgate-translation']
    return target.native ? this.#passThrough(target, model) : this.#translated(target, model)
  }

  /**
   * Returns the same request without reasoning that vendors have sealed, or undefined if it contains none or
   * the client wants losses refused. Rejects when the client leaves.
   */
  async withoutSealed(prepared: Prepared, why: SealedReason): Promise<Prepared | undefined> {
    if (this.#isStrict()) return undefined
    const { request, notes } = prepared
    const { large, endpoint } = this.#asked
    const sent = joinedBody(request.body)
    const job = { name: 'unsealed', input: { bytes: sent } } as const
    const body =
      large === undefined ? withoutSealed(sent) : (await inThread(this.#gateway, this.#asked, job))?.bytes
    if (body === undefined) return undefined
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
    const path = endpoint.client.turnsMember
    return {
      ...prepared,
      request: { ...request, body: this.#bodyOf(large === undefined ? bytes : [bytes]) },
      notes: [...notes, { path, action: 'dropped', reason: sealedReasons[why] }],
    }
  }

  /**
   * The size of the largest translation for these targets in bytes; 0 if no format can express the request. A
   * translation may be larger than the client's body, and the upstream charges for what it receives.
   */
  largestTranslation(targets: readonly Candidate[], model: Model): number {
    let largest = 0
    for (const target of oneOfEach(targets)) {
      try {
        largest = Math.max(largest, this.#translationFor(target, model).body.length)
      } catch (error) {
        // Nothing will be sent to this target. Its attempt records the error.
        if (!(error instanceof GatewayError)) throw error
      }
    }
    return largest
  }

  async #translateAll(models: readonly { model: Model; translated: readonly Candidate[] }[]): Promise<void> {
    for (const { model, translated } of models) {
      for (const target of oneOfEach(translated)) await this.ahead(target, model)
    }
  }

  #passThrough(target: Target, model: Model): Prepared {
    const { native } = upstreamSide(target.protocol)
    if (native === undefined) throw new Error(`no client speaks ${target.protocol}`)
    const { facts, body } = this.#withOwnReasoning(target)
    const notes = [...(this.#asked.kept?.notes ?? []), ...(facts.unsent ?? [])]
    if (notes.length > 0) noteTranslation(this.#asked, target, [...(this.#asked.row.notes ?? []), ...notes])
    const { takes } = target.traits
    const patch = { model: target.upstreamModel, takes, added: this.#asked.added }
    const bytes =
      this.#asked.large === undefined
        ? native.patchRequest(body, facts, {
            ...patch,
            allocate: (size) => allocateBody(size, this.#asked.life.slabs),
          })
        : native.patchedPieces(body, facts, patch)
    const options = {
      dropUsageFrame: facts.stream && !facts.wantsUsageFrame,
      frameBytesMax: this.#gateway.bounds.sseFrameBytesMax,
    }
    const { bytes: bytesSide } = this.#asked.endpoint.client
    const read: AnswerReader =
      bytesSide !== undefined
        ? readBytes(bytesSide, options)
        : readNative(native, options, () => {
            const other = readOtherKind(this.#translatable(model, target.traits), target, facts.keepsAnswer)
            if (other === undefined) return read
            const notes = this.#asked.row.notes ?? []
            noteTranslation(this.#asked, target, [...notes, rewrittenNote(facts.stream)])
            return other
          })
    const conversationId = this.#asked.kept?.conversationId
    const form = this.#asked.endpoint.client.state?.conversations
    const named =
      conversationId === undefined || form === undefined
        ? read
        : namingConversation(read, form, conversationId, facts.stream)
    const reader = facts.vectorsAs === undefined ? named : readEmbeddings(named, facts.vectorsAs)
    const request = this.#requestTo(target, bytes, forwardedHeaders(this.#gateway, this.#asked))
    return { request, reader, notes: this.#asked.row.notes ?? [], sent: () => addedMembers(facts, patch) }
  }

  /**
   * Returns the request unchanged, unless it repeats reasoning that other channels gave this client in our
   * envelopes. Those parts are removed, with a note.
   */
  #withOwnReasoning(target: Target): Pick<Asked, 'body' | 'facts'> {
    const asked = this.#asked
    if (asked.large !== undefined) {
      const { notes, body, facts } = this.#own ?? { ...asked, notes: [] }
      if (notes.length > 0) noteTranslation(asked, target, notes)
      return { body, facts }
    }
    if (asked.facts.namesOurs === false || !contains(asked.body, envelopeMark)) return asked
    const { json, notes } = withoutForeignReasoning(this.#parsed(), this.#gateway.envelope)
    if (notes.length === 0) return asked
    noteTranslation(asked, target, notes)
    const body = Buffer.from(JSON.stringify(json))
    return { body, facts: asked.endpoint.client.readRequest(body, this.#gateway.bounds) }
  }

  async #ownAhead(): Promise<void> {
    const { body: bytes, facts, large } = this.#asked
    if (large === undefined) return
    const { format } = large
    const own = await inThread(this.#gateway, this.#asked, { name: 'own', input: { bytes, format } })
    this.#own = own === undefined ? { body: bytes, facts, notes: [] } : { ...ownBody(own), notes: own.notes }
  }

  #translated(target: Target, model: Model): Prepared {
    const translation = this.#translationFor(target, model)
    const { body, reader, sent } = translation
    const notes = [...(this.#asked.kept?.notes ?? []), ...translation.notes]
    noteTranslation(this.#asked, target, notes)
    const { headers } = upstreamSide(target.protocol)
    const bytes = this.#asked.large === undefined ? body : [body]
    return { request: this.#requestTo(target, bytes, Object.entries(headers).flat()), reader, notes, sent }
  }

  #translationFor(target: TranslationTarget, model: Model): Translated {
    const key = keyOf(target, model)
    const known = this.#translations.get(key)
    if (known instanceof Error) throw known
    if (known !== undefined) return known
    if (this.#asked.large !== undefined) throw new Error('a large body was not translated ahead')
    const span = this.#beginSpan(target)
    const { body, notes, reader } = translate(this.#translatable(model, target.traits), target)
    const bytes = this.#written(body)
    span?.end()
    const translated = { body: bytes, notes, reader, sent: () => sentIn(bytes) }
    this.#translations.set(key, translated)
    return translated
  }

  async #translateAhead(target: TranslationTarget, model: Model): Promise<void> {
    const { protocol, upstreamModel, traits } = target
    const { body, life } = this.#asked
    const into = takeShared(body.length)
    const input = {
      bytes: body,
      into,
      client: this.#asked.endpoint.protocol,
      compacts: this.#asked.endpoint.compacts === true,
      target: { protocol, upstreamModel, traits },
      losesDigits: this.#asked.facts.losesDigits,
      ...this.#options(model, traits),
    }
    const key = keyOf(target, model)
    const span = this.#beginSpan(target)
    try {
      const translated = await inThread(this.#gateway, this.#asked, { name: 'translate', input })
      const { bytes } = translated
      life.slabs.push(() => keepShared(bytes))
      if (bytes.length > into.buffer.byteLength) keepShared(into)
      this.#translations.set(key, this.#fromThread(translated, target))
    } catch (error) {
      this.#translations.set(key, error instanceof Error ? error : new Error(String(error)))
    }
    span?.end()
  }

  #beginSpan({ protocol }: TranslationTarget): Span | undefined {
    const span = this.#asked.trace?.begin('translate', kinds.internal)
    if (span !== undefined) span.attributes[own.upstreamProtocol] = protocol
    return span
  }

  #fromThread({ bytes, notes, tools, asked, sent }: ThreadTranslated, target: TranslationTarget): Translated {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const reader = readTranslated(this.#answerForm(), target, toolsOf(tools), asked)
    return { body, notes, reader, sent: () => sent }
  }

  #translatable(model: Model, traits: Traits): Translatable {
    const body = this.#parsed()
    return { ...this.#answerForm(), ...this.#options(model, traits), body, memo: this.#memo }
  }

  #options(
    model: Model,
    traits: Traits,
  ): Pick<Translatable, 'strict' | 'isKept' | 'maxOutputTokensDefault' | 'cacheKey'> {
    return {
      cacheKey: traits.takes?.cacheKey === true ? cacheKeyOf(this.#asked) : undefined,
      isKept: (this.#asked.kept?.days ?? 0) > 0,
      strict: this.#isStrict(),
      maxOutputTokensDefault: outputTokensDefault(model, traits, this.#gateway.bounds.outputTokensDefault),
    }
  }

  #isStrict(): boolean {
    const { identity, exchange } = this.#asked
    return identity.strict || exchange.headers['x-tollgate-strict'] === 'true'
  }

  #answerForm(): AnswerForm {
    const { bounds, envelope } = this.#gateway
    const asked = this.#asked
    return {
      client: asked.endpoint.client,
      requestId: asked.id,
      model: asked.facts.model,
      stream: asked.facts.stream,
      createdAtSeconds: Math.floor(asked.startedAt / 1000),
      inputTokensEstimate: estimateTokens(asked.body.length),
      envelope,
      frameBytesMax: bounds.sseFrameBytesMax,
      answerSizeMax: bounds.watchedAnswerBytesMax,
      kept: shownKeeping(asked.kept),
      redactError: (error) => redactError(asked, error),
    }
  }

  /**
   * The parsed body; for a large one, all but the conversation. Does not throw, because an earlier scan has
   * checked the JSON.
   */
  #parsed(): Json {
    this.#json ??= this.#parse()
    return this.#json
  }

  #parse(): Json {
    const { body, large, facts } = this.#asked
    const parsed = this.#gateway.rememberedBodies.parse(body)
    if (parsed !== undefined) {
      this.#memo = parsed.memo
      return parsed.value
    }
    const bytes = large === undefined ? body : bodyWithoutConversation(body, facts)
    const value = parseKeepingDigits(bytes.toString('utf8'), facts.losesDigits)
    return isRecord(value) ? value : {}
  }

  /** A translated body as JSON. */
  #written(body: Json): Buffer {
    const allocate = (bytes: number) => allocateBody(bytes, this.#asked.life.slabs)
    if (this.#memo !== undefined) return writeJson(body, this.#memo, allocate)
    const text = JSON.stringify(body)
    const bytes = allocate(Buffer.byteLength(text))
    bytes.write(text)
    return bytes
  }

  /** `body` is in pieces when it is large. */
  #requestTo(target: Target, body: Buffer | Buffer[], headers: readonly string[]): UpstreamRequest {
    const { stream } = this.#asked.facts
    const side = upstreamSide(target.protocol)
    const ownPath = target.native ? this.#upstreamPath : undefined
    return {
      method: 'POST',
      path: ownPath ?? side.path({ model: target.upstreamModel, stream }),
      frames: ownPath === undefined ? side.frames : undefined,
      body: this.#bodyOf(body),
      stream,
      accept: this.#asked.endpoint.client.bytes === undefined ? undefined : '*/*',
      headers,
    }
  }

  #bodyOf(body: Buffer | Buffer[]): UpstreamRequest['body'] {
    if (!Array.isArray(body)) return body
    const { keyId } = this.#asked.identity
    return { pieces: body, pace: (bytes) => this.#gateway.turns.take(keyId, bytes) }
  }
}

/**
 * An answer that is not kept does not name the answer that it continues, but it does name its conversation.
 */
function shownKeeping(kept: Asked['kept']): Asked['kept'] {
  return kept === undefined || (kept.days === 0 && kept.conversationId === undefined) ? undefined : kept
}

interface Translated extends Pick<Prepared, 'reader' | 'notes' | 'sent'> {
  body: Buffer
}

/** Returns the bytes of a body. A body in pieces is copied. */
export function joinedBody(body: UpstreamRequest['body']): Buffer {
  if (body === null) return Buffer.alloc(0)
  return Buffer.isBuffer(body) ? body : Buffer.concat(body.pieces)
}

/** Used for a small body only when needed: hardly any request needs these members, so they are not cached. */
function sentIn(body: Buffer): SentMembers {
  const value: unknown = JSON.parse(body.toString('utf8'))
  return isRecord(value) ? sentMembers(value) : {}
}

interface OwnBody {
  body: Buffer
  facts: RequestFacts
  notes: readonly TranslationNote[]
}

function keyOf({ protocol, upstreamModel, traits }: TranslationTarget, { id }: Model): string {
  return `${protocol} ${id} ${upstreamModel} ${numberOf(traits)}`
}

/** Equal traits of a snapshot are the same object. */
function numberOf(traits: Traits): number {
  const known = numbers.get(traits)
  if (known !== undefined) return known
  traitsSeen++
  numbers.set(traits, traitsSeen)
  return traitsSeen
}

const numbers = new WeakMap<Traits, number>()
let traitsSeen = 0

/** Returns the first target of each combination of format and traits. */
function oneOfEach(targets: readonly Candidate[]): Candidate[] {
  const byForm = new Map<string, Candidate>()
  for (const target of targets) {
    const form = `${target.protocol} ${numberOf(target.traits)}`
    if (!byForm.has(form)) byForm.set(form, target)
  }
  return [...byForm.values()]
}

function rewrittenNote(wantsStream: boolean): TranslationNote {
  const reason = wantsStream
    ? 'the upstream did not stream, so the parts of its answer that the format has events for are streamed'
    : 'the upstream streamed without being asked, so its events are combined into one answer'
  return { path: 'stream', action: 'emulated', reason }
}

/**
 * Names the request's session for an upstream's prompt cache. It is a hash, so that tenants never share a
 * name and the upstream learns no id of the client. Undefined when the client names no session.
 */
function cacheKeyOf({ row, exchange, identity }: Asked): string | undefined {
  const session = namedSession(row, exchange.headers)
  if (session === undefined) return undefined
  return createHash('sha256').update(`${identity.tenantId} ${session}`).digest('hex').slice(0, 32)
}
