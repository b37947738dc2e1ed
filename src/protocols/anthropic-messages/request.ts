import { invalid } from '../../canonical/field-error.ts'
import { type Headers, headerText } from '../../canonical/headers.ts'
import { BodyMarks } from '../body-marks.ts'
import {
  type ByteRange,
  type JsonBounds,
  kindAt,
  parseSpan,
  scanFirstElement,
  scanMembers,
} from '../json-scan.ts'
import { BodySpans } from '../patch-request.ts'
import type { RequestFacts } from '../protocol.ts'
import type { ThreadFacts } from '../protocol-state.ts'
import { checkMessages, readBoolean, readModel, readTokensMax, scanBody, stringAt } from '../scan-facts.ts'
import { leadingSystemAdvice } from './wire.ts'

/**
 * Reads the parts of a `/v1/messages` body that the gateway needs; the upstream checks the rest. Hand-written
 * for the hot path: it scans bytes and does not parse the document. Throws GatewayError `invalid_request`
 * with the field, or with `body` for invalid JSON.
 */
export function readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts {
  const depthMax = bounds.jsonDepthMax
  const marks = new BodyMarks()
  const members = scanBody(raw, memberNames, bounds, marks)
  const model = readModel(raw, members.model)
  const thread = readThread(raw, members, depthMax)
  // An unfinished turn is resumed without a new message.
  if (thread?.previousId === undefined || members.messages === undefined) checkMessages(raw, members.messages)
  if (thread?.previousId === undefined) checkFirstMessage(raw, members.messages, depthMax)
  const maxOutputTokens = readTokensMax(raw, members, 'max_tokens')
  if (members.max_tokens === undefined || kindAt(raw, members.max_tokens.start) === 'null') {
    throw invalid('max_tokens', 'required: set the maximum number of output tokens')
  }
  const user = userOf(raw, members.metadata, depthMax)
  return {
    model,
    stream: readBoolean(raw, members.stream, 'stream'),
    maxOutputTokens,
    outputBound: 'max_tokens',
    choices: 1,
    wantsUsageFrame: true,
    thread,
    heldId: thread?.previousId,
    keepsAnswer: thread !== undefined,
    session: user,
    endUser: user,
    conversation: members.messages,
    namesVendorState: marks.namesVendorState,
    hasMediaWords: marks.hasMediaWords,
    namesOurs: marks.namesOurs,
    losesDigits: marks.losesDigits,
    spans: new BodySpans(members.model),
  }
}

/**
 * Throws GatewayError `invalid_request` if the gateway does not know the `anthropic-version`, because it
 * could not count the tokens of an answer in an unknown version.
 */
export function checkHeaders(headers: Headers): void {
  const version = headerText(headers['anthropic-version'])?.trim() ?? ''
  if (version === '') {
    throw invalid('anthropic-version', `this header is required: send one of ${versions.join(', ')}`)
  }
  if (!versions.includes(version)) {
    throw invalid(
      'anthropic-version',
      `not a version that this gateway supports: send one of ${versions.join(', ')}`,
    )
  }
}

/**
 * From https://platform.claude.com/docs/en/api/versioning and requests of the vendor's SDK 1.x, read
 * 2026-11-21.
 */
const versions = ['2023-06-01', '2026-10-21']

const memberNames = [
  'model',
  'messages',
  'max_tokens',
  'stream',
  'system',
  'tools',
  'metadata',
  'thread',
] as const

/**
 * The thread that the request starts or continues. Types and rules are those of `BetaThreadParams` and
 * `ThreadState` in @anthropic-ai/sdk 1.12, read 2026-11-23.
 */
function readThread(
  raw: Buffer,
  { thread: span, system, tools }: Partial<Record<(typeof memberNames)[number], ByteRange>>,
  depthMax: number,
): ThreadFacts | undefined {
  if (span === undefined || kindAt(raw, span.start) === 'null') return undefined
  if (kindAt(raw, span.start) !== 'object')
    throw invalid('thread', `expected an object, got ${kindAt(raw, span.start)}`)
  const members = scanMembers(raw, span, ['type', 'previous_message_id'], { depthMax, path: 'thread' })
  const type = members.type === undefined ? undefined : parseSpan(raw, members.type, 'thread.type')
  if (type === 'create') {
    const head = { ...(system !== undefined && { system }), ...(tools !== undefined && { tools }) }
    return { span, previousId: undefined, head }
  }
  if (type !== 'continue') throw invalid('thread.type', 'expected "create" or "continue"')
  const id =
    members.previous_message_id === undefined
      ? undefined
      : parseSpan(raw, members.previous_message_id, 'thread.previous_message_id')
  if (typeof id !== 'string' || id === '') {
    throw invalid(
      'thread.previous_message_id',
      'required: send the id of the answer that this request continues',
    )
  }
  for (const [name, given] of Object.entries({ system, tools })) {
    if (given !== undefined)
      throw invalid(
        name,
        'already set by the first request of the thread: leave it out, or start a new thread',
      )
  }
  return { span, previousId: id, head: {} }
}

function checkFirstMessage(raw: Buffer, messages: ByteRange, depthMax: number): void {
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

/** The user id, which agents use to identify their session. The upstream refuses a wrong type. */
function userOf(raw: Buffer, metadata: ByteRange | undefined, depthMax: number): ByteRange | undefined {
  if (metadata === undefined || kindAt(raw, metadata.start) !== 'object') return undefined
  const { user_id: user } = scanMembers(raw, metadata, ['user_id'], { depthMax, path: 'metadata' })
  return stringAt(raw, user)
}
