import {
  checkText,
  invalid,
  kindAt,
  parseSpan,
  type Span,
  scanMembers,
  skipSpace,
  type Watch,
  wordSet,
} from '../json-scan.ts'
import type { RequestFacts, RequestPatch } from '../protocol.ts'

/**
 * Read what the gateway must know of a `/chat/completions` body; everything else is the upstream's to judge.
 * Throws GatewayError `invalid_request` naming the field, or `body` for broken JSON.
 */
export function readRequest(raw: Buffer, bounds: { jsonDepthMax: number }): RequestFacts {
  checkText(raw)
  const depthMax = bounds.jsonDepthMax
  const whole = { start: 0, end: raw.length }
  const media: Watch<'messages'> = { member: 'messages', words: mediaWords, found: false }
  const members = scanMembers(raw, whole, memberNames, { depthMax, watch: media })

  const model = readModel(raw, members.model)
  checkMessages(raw, members.messages)
  const stream = readBoolean(raw, members.stream, 'stream')
  const usage = stream ? readStreamOptions(raw, members.stream_options, depthMax) : undefined
  const completionMax = readInteger(raw, members.max_completion_tokens, 'max_completion_tokens', 0)
  const tokensMax = readInteger(raw, members.max_tokens, 'max_tokens', 0)
  return {
    model,
    stream,
    maxOutputTokens:
      completionMax === undefined ? tokensMax : Math.max(completionMax, tokensMax ?? completionMax),
    choices: readInteger(raw, members.n, 'n', 1, 128) ?? 1,
    // A web search puts pages into the input that the body does not show.
    hasMedia: media.found || members.web_search_options !== undefined,
    wantsUsageFrame: usage?.wanted ?? false,
    spans: new ChatSpans(members.model ?? whole, usage),
  }
}

/**
 * The client's bytes with the upstream's model name, and with usage asked for in a stream that does not ask itself.
 * All bytes outside those values are the client's own; nothing to change gives the same buffer.
 */
export function patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer {
  if (!(facts.spans instanceof ChatSpans)) throw new Error('patchRequest got the facts of another protocol')
  const { model, usage } = facts.spans
  const edits: Edit[] = []
  if (patch.model !== facts.model) edits.push({ ...model, bytes: Buffer.from(JSON.stringify(patch.model)) })
  if (facts.stream && !facts.wantsUsageFrame && usage) edits.push(usage.ask)
  return edits.length === 0 ? raw : splice(raw, edits, patch.allocate ?? Buffer.allocUnsafe)
}

const memberNames = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'web_search_options',
] as const

const modelCharactersMax = 256

/**
 * Strings that mark a part which is not text, or a reference to something kept elsewhere. Looked for in `messages`
 * only: tool schemas often have a property called "file". A message that is exactly one of these words counts too,
 * which errs on the safe side.
 */
const mediaWords = wordSet(
  'image_url',
  'input_audio',
  'file',
  'video_url',
  'audio',
  'audio_url',
  'image',
  'video',
  'document',
  'input_image',
  'input_file',
)

interface Edit extends Span {
  bytes: Buffer
}

interface UsageSpans {
  wanted: boolean
  /** The edit that asks for usage. */
  ask: Edit
}

/** Where `patchRequest` cuts. A class, so that the facts of another protocol are told apart. */
class ChatSpans {
  readonly model: Span
  readonly usage: UsageSpans | undefined

  constructor(model: Span, usage: UsageSpans | undefined) {
    this.model = model
    this.usage = usage
  }
}

function readModel(raw: Buffer, span: Span | undefined): string {
  if (!span) throw invalid('model', 'required: the id of a model, as GET /v1/models lists them')
  if (kindAt(raw, span.start) !== 'string') throw wrongKind(raw, span, 'model', 'a string')
  const model = String(parseSpan(raw, span, 'model'))
  if (model === '') throw invalid('model', 'expected the id of a model, got an empty string')
  if (model.length > modelCharactersMax) {
    throw invalid('model', `expected at most ${modelCharactersMax} characters, got ${model.length}`)
  }
  // It becomes a column of the usage log, which holds no NUL and no half of a surrogate pair.
  if (/\p{Cc}/u.test(model) || !model.isWellFormed()) {
    throw invalid('model', 'expected printable characters only')
  }
  return model
}

function checkMessages(raw: Buffer, span: Span | undefined): void {
  if (!span) throw invalid('messages', 'required: a non-empty array of messages')
  const kind = kindAt(raw, span.start)
  if (kind !== 'array') throw wrongKind(raw, span, 'messages', 'a non-empty array')
  if (skipSpace(raw, span.start + 1, span.end) === span.end - 1) {
    throw invalid('messages', 'expected a non-empty array, got an empty one')
  }
}

function readStreamOptions(raw: Buffer, span: Span | undefined, depthMax: number): UsageSpans {
  if (!span) return { wanted: false, ask: insertion(raw, 0, askMember) }
  const kind = kindAt(raw, span.start)
  if (kind === 'null') return { wanted: false, ask: { ...span, bytes: askOptions } }
  if (kind !== 'object') throw wrongKind(raw, span, 'stream_options', 'an object')
  const { include_usage: value } = scanMembers(raw, span, ['include_usage'], {
    depthMax,
    path: 'stream_options',
  })
  if (!value) return { wanted: false, ask: insertion(raw, span.start, askFlag) }
  const wanted = readBoolean(raw, value, 'stream_options.include_usage')
  return { wanted, ask: { ...value, bytes: askTrue } }
}

const askMember = Buffer.from('"stream_options":{"include_usage":true},')
const askOptions = Buffer.from('{"include_usage":true}')
const askFlag = Buffer.from('"include_usage":true,')
const askTrue = Buffer.from('true')

/** Put a member, with the comma behind it, first in the object that starts at or behind `start`. */
function insertion(raw: Buffer, start: number, member: Buffer): Edit {
  const at = skipSpace(raw, start, raw.length) + 1
  const isEmpty = raw[skipSpace(raw, at, raw.length)] === 0x7d
  return { start: at, end: at, bytes: isEmpty ? member.subarray(0, -1) : member }
}

/** False when absent or null. */
function readBoolean(raw: Buffer, span: Span | undefined, path: string): boolean {
  if (!span) return false
  const kind = kindAt(raw, span.start)
  if (kind !== 'boolean' && kind !== 'null') throw wrongKind(raw, span, path, 'a boolean')
  // The scan has checked the literal: its first letter tells.
  return raw[span.start] === 0x74
}

function readInteger(
  raw: Buffer,
  span: Span | undefined,
  path: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (!span) return undefined
  const kind = kindAt(raw, span.start)
  if (kind !== 'number' && kind !== 'null') throw wrongKind(raw, span, path, 'an integer')
  const value = parseSpan(raw, span, path)
  if (value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`
    throw invalid(path, `expected an integer ${range}, got ${value}`)
  }
  return value
}

function wrongKind(raw: Buffer, span: Span, path: string, expected: string) {
  return invalid(path, `expected ${expected}, got ${kindAt(raw, span.start)}`)
}

function splice(raw: Buffer, edits: Edit[], allocate: (bytes: number) => Buffer): Buffer {
  edits.sort((a, b) => a.start - b.start)
  let grown = 0
  for (const edit of edits) grown += edit.bytes.length - (edit.end - edit.start)
  const patched = allocate(raw.length + grown)
  let from = 0
  let to = 0
  for (const edit of edits) {
    to += raw.copy(patched, to, from, edit.start)
    to += edit.bytes.copy(patched, to)
    from = edit.end
  }
  raw.copy(patched, to, from)
  return patched
}
