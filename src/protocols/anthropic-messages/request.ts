import {
  checkText,
  invalid,
  type JsonBounds,
  kindAt,
  parseSpan,
  type Span,
  scanFirstElement,
  scanMembers,
} from '../json-scan.ts'
import { type Watch, wordSet } from '../json-words.ts'
import type { Headers, RequestFacts, RequestPatch } from '../protocol.ts'
import { checkFilledArray, readBoolean, readInteger, readModel, stringAt } from '../scan-facts.ts'
import { splice } from '../splice.ts'
import { leadingSystemAdvice } from './wire.ts'

/**
 * Read what the gateway must know of a `/v1/messages` body; everything else is the upstream's to judge.
 * Throws GatewayError `invalid_request` naming the field, or `body` for broken JSON.
 */
export function readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts {
  checkText(raw)
  const { jsonDepthMax: depthMax, jsonValuesMax: valuesMax } = bounds
  const whole = { start: 0, end: raw.length }
  const media: Watch<'messages'> = { member: 'messages', words: mediaWords, found: false }
  const members = scanMembers(raw, whole, memberNames, { depthMax, valuesMax, watch: media })

  const model = readModel(raw, members.model)
  checkFilledArray(raw, members.messages, 'messages', 'messages')
  checkFirstMessage(raw, members.messages, depthMax)
  const maxOutputTokens = readInteger(raw, members.max_tokens, 'max_tokens', 0)
  if (maxOutputTokens === undefined) {
    throw invalid('max_tokens', 'required: the most tokens that the answer may have')
  }
  const user = userOf(raw, members.metadata, depthMax)
  return {
    model,
    stream: readBoolean(raw, members.stream, 'stream'),
    maxOutputTokens,
    choices: 1,
    hasMedia: media.found || members.mcp_servers !== undefined || readsPages(raw, members.tools),
    wantsUsageFrame: true,
    heldId: undefined,
    keepsAnswer: false,
    hidesCost: undefined,
    session: user,
    endUser: user,
    conversation: members.messages,
    spans: new MessagesSpans(members.model ?? whole),
  }
}

/** The client's bytes with the upstream's model name; the same buffer when it is the same name. */
export function patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer {
  if (!(facts.spans instanceof MessagesSpans))
    throw new Error('patchRequest got the facts of another protocol')
  if (patch.model === facts.model) return raw
  const edit = { ...facts.spans.model, bytes: Buffer.from(JSON.stringify(patch.model)) }
  return splice(raw, [edit], patch.allocate ?? Buffer.allocUnsafe)
}

/**
 * Throws GatewayError `invalid_request` unless `anthropic-version` is a version that this gateway knows. Answers are
 * read by version, so that an unknown one could not be counted.
 */
export function checkHeaders(headers: Headers): void {
  const header = headers['anthropic-version']
  const version = Array.isArray(header) ? header[0] : header
  if (version === undefined || version.trim() === '') {
    throw invalid('anthropic-version', `this header is required: send one of ${versions.join(', ')}`)
  }
  if (!versions.includes(version.trim())) {
    throw invalid('anthropic-version', `not a version this gateway knows: send one of ${versions.join(', ')}`)
  }
}

/** https://platform.claude.com/docs/en/api/versioning, and what the vendor's SDK 1.x sends, read 2026-11-21. */
const versions = ['2023-06-01', '2026-10-21']

const memberNames = ['model', 'messages', 'max_tokens', 'stream', 'tools', 'mcp_servers', 'metadata'] as const

/** Strings that mark a block whose tokens the bytes of the body do not bound. */
const mediaWords = wordSet('image', 'document', 'file', 'search_result', 'container_upload')

/** Where `patchRequest` cuts. A class, so that the facts of another protocol are told apart. */
class MessagesSpans {
  readonly model: Span

  constructor(model: Span) {
    this.model = model
  }
}

function checkFirstMessage(raw: Buffer, messages: Span, depthMax: number): void {
  const first = scanFirstElement(raw, messages, { depthMax })
  if (first === undefined) return
  const path = 'messages[0]'
  if (kindAt(raw, first.start) !== 'object') {
    throw invalid(path, `expected an object, got ${kindAt(raw, first.start)}`)
  }
  const { role } = scanMembers(raw, first, ['role'], { depthMax, path })
  if (role !== undefined && parseSpan(raw, role, `${path}.role`) === 'system') {
    throw invalid(`${path}.role`, leadingSystemAdvice)
  }
}

/** Agents name their session in there. What is no object, or no string, is the upstream's to judge. */
function userOf(raw: Buffer, metadata: Span | undefined, depthMax: number): Span | undefined {
  if (metadata === undefined || kindAt(raw, metadata.start) !== 'object') return undefined
  const { user_id: user } = scanMembers(raw, metadata, ['user_id'], { depthMax, path: 'metadata' })
  return stringAt(raw, user)
}

/** Whether a tool of the vendor's own may put pages or files into the input that the body does not show. */
function readsPages(raw: Buffer, tools: Span | undefined): boolean {
  if (tools === undefined) return false
  const bytes = raw.subarray(tools.start, tools.end)
  return pageMarks.some((mark) => bytes.includes(mark))
}

/**
 * How the types of such tools begin, dates following. Nobody escapes plain letters in JSON: who does counts as if it
 * were to hide one of them.
 */
const pageMarks = [
  '"web_search_',
  '"web_fetch_',
  '"code_execution_',
  '"mcp_toolset',
  '"advisor_',
  '\\u005f',
  '\\u005F',
  '\\u006',
  '\\u007',
]
