import { emptyTools } from '../empty-tools.ts'
import { type JsonBounds, kindAt, type Span, scanMembers, skipSpace } from '../json-scan.ts'
import { type Watch, wordSet } from '../json-words.ts'
import { BodySpans, type UsageSpans } from '../patch-request.ts'
import type { RequestFacts } from '../protocol.ts'
import {
  checkMessages,
  readBoolean,
  readInteger,
  readModel,
  scanBody,
  stringAt,
  wrongKind,
} from '../scan-facts.ts'
import type { Edit } from '../splice.ts'

/**
 * Read what the gateway must know about a `/chat/completions` body; the upstream checks everything else. Hand-written
 * for the hot path: it scans bytes and parses no document. Throws GatewayError `invalid_request` with the field, or
 * `body` for broken JSON.
 */
export function readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts {
  const media: Watch<'messages'> = { member: 'messages', words: mediaWords, found: false }
  const members = scanBody(raw, memberNames, bounds, media)
  const model = readModel(raw, members.model)
  checkMessages(raw, members.messages)
  const stream = readBoolean(raw, members.stream, 'stream')
  const usage = stream ? readStreamOptions(raw, members.stream_options, bounds.jsonDepthMax) : undefined
  const completionMax = readInteger(raw, members.max_completion_tokens, 'max_completion_tokens', 0)
  const tokensMax = readInteger(raw, members.max_tokens, 'max_tokens', 0)
  const unsent = emptyTools(raw, members)
  return {
    model,
    stream,
    maxOutputTokens:
      completionMax === undefined ? tokensMax : Math.max(completionMax, tokensMax ?? completionMax),
    choices: readInteger(raw, members.n, 'n', 1, 128) ?? 1,
    // A web search adds pages to the input, which the body does not show.
    hasMedia: media.found || members.web_search_options !== undefined,
    wantsUsageFrame: usage?.wanted ?? false,
    heldId: undefined,
    session: stringAt(raw, members.prompt_cache_key),
    endUser: stringAt(raw, members.user) ?? stringAt(raw, members.safety_identifier),
    metadata: members.metadata,
    conversation: members.messages,
    unsent: unsent?.notes,
    spans: new BodySpans(members.model, usage, unsent?.spans),
  }
}

const memberNames = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'web_search_options',
  'prompt_cache_key',
  'user',
  'safety_identifier',
  'metadata',
] as const

/**
 * Strings that mark a part other than text, or a reference to something that the vendor keeps. The scan looks for them
 * only in `messages`: tool schemas often have a property called "file". A message that is exactly one of these words
 * counts too, which is harmless.
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

export function readStreamOptions(raw: Buffer, span: Span | undefined, depthMax: number): UsageSpans {
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

/** Insert a member and its comma at the beginning of the object that starts at `start` or later. */
function insertion(raw: Buffer, start: number, member: Buffer): Edit {
  const at = skipSpace(raw, start, raw.length) + 1
  const isEmpty = raw[skipSpace(raw, at, raw.length)] === 0x7d
  return { start: at, end: at, bytes: isEmpty ? member.subarray(0, -1) : member }
}
