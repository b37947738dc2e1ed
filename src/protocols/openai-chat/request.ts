import { BodyMarks } from '../body-marks.ts'
import { emptyTools } from '../empty-tools.ts'
import { type ByteRange, type JsonBounds, kindAt, scanMembers, skipSpace } from '../json-scan.ts'
import { BodySpans, type UsageSpans } from '../patch-request.ts'
import type { RequestFacts } from '../protocol.ts'
import {
  checkMessages,
  readBoolean,
  readInteger,
  readModel,
  readTokensMax,
  scanBody,
  stringAt,
  wrongKind,
} from '../scan-facts.ts'
import type { Edit } from '../splice.ts'

/**
 * Reads the parts of a `/chat/completions` body that the gateway needs; the upstream checks the rest.
 * Hand-written for the hot path: it scans bytes and does not parse the document. Throws GatewayError
 * `invalid_request` with the field, or with `body` for invalid JSON.
 */
export function readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts {
  const marks = new BodyMarks()
  const members = scanBody(raw, memberNames, bounds, marks)
  const model = readModel(raw, members.model)
  checkMessages(raw, members.messages)
  const stream = readBoolean(raw, members.stream, 'stream')
  const usage = stream ? readStreamOptions(raw, members.stream_options, bounds.jsonDepthMax) : undefined
  const unsent = emptyTools(raw, members)
  return {
    model,
    stream,
    maxOutputTokens: readTokensMax(raw, members, 'max_completion_tokens', 'max_tokens'),
    outputBound:
      members.max_tokens !== undefined && members.max_completion_tokens === undefined
        ? 'max_tokens'
        : 'max_completion_tokens',
    choices: readInteger(raw, members.n, 'n', 1, 128) ?? 1,
    wantsUsageFrame: usage?.wanted ?? false,
    heldId: undefined,
    session: stringAt(raw, members.prompt_cache_key),
    endUser: stringAt(raw, members.user) ?? stringAt(raw, members.safety_identifier),
    metadata: members.metadata,
    conversation: members.messages,
    unsent: unsent?.notes,
    namesVendorState: marks.namesVendorState,
    hasMediaWords: marks.hasMediaWords,
    namesOurs: marks.namesOurs,
    losesDigits: marks.losesDigits,
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
  'prompt_cache_key',
  'user',
  'safety_identifier',
  'metadata',
] as const

export function readStreamOptions(raw: Buffer, span: ByteRange | undefined, depthMax: number): UsageSpans {
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

/** Inserts a member and its comma at the beginning of the object that starts at `start` or later. */
function insertion(raw: Buffer, start: number, member: Buffer): Edit {
  const at = skipSpace(raw, start, raw.length) + 1
  const isEmpty = raw[skipSpace(raw, at, raw.length)] === 0x7d
  return { start: at, end: at, bytes: isEmpty ? member.subarray(0, -1) : member }
}
