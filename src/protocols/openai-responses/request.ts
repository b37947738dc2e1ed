import { invalid } from '../../canonical/field-error.ts'
import { BodyMarks } from '../body-marks.ts'
import { conversationIn } from '../conversation.ts'
import { type ByteRange, type JsonBounds, kindAt, parseSpan, skipSpace } from '../json-scan.ts'
import { BodySpans } from '../patch-request.ts'
import type { RequestFacts } from '../protocol.ts'
import type { BackgroundFacts } from '../protocol-state.ts'
import { readBoolean, readModel, readTokensMax, scanBody, stringAt, wrongKind } from '../scan-facts.ts'

/**
 * Reads the parts of a `/responses` body that the gateway needs; the upstream checks the rest. Hand-written
 * for the hot path: it scans bytes and does not parse the document. Throws GatewayError `invalid_request`
 * with the field, or with `body` for invalid JSON.
 */
export function readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts {
  const marks = new BodyMarks()
  const members = scanBody(raw, memberNames, bounds, marks)
  const model = readModel(raw, members.model)
  const isBackground = readBoolean(raw, members.background, 'background')
  const heldId = readString(raw, members.previous_response_id, 'previous_response_id')
  const runsIn = readConversation(raw, members.conversation, heldId)
  const hasElsewhere = heldId !== undefined || runsIn !== undefined || isGiven(raw, members.prompt)
  checkInput(raw, members.input, hasElsewhere)
  if (isGiven(raw, members.tools) && kindAt(raw, members.tools.start) !== 'array')
    throw wrongKind(raw, members.tools, 'tools', 'an array')
  return {
    model,
    stream: readBoolean(raw, members.stream, 'stream'),
    maxOutputTokens: readTokensMax(raw, members, 'max_output_tokens'),
    outputBound: 'max_output_tokens',
    choices: 1,
    wantsUsageFrame: true,
    heldId,
    runsIn,
    heldSpan: heldId === undefined ? undefined : members.previous_response_id,
    // The vendor stores answers unless the client disables it.
    keepsAnswer: !isGiven(raw, members.store) || readBoolean(raw, members.store, 'store'),
    hidesCost: isBackground ? 'background' : undefined,
    background: isBackground ? backgroundFacts(raw, members) : undefined,
    session: stringAt(raw, members.prompt_cache_key),
    endUser: stringAt(raw, members.user) ?? stringAt(raw, members.safety_identifier),
    metadata: members.metadata,
    conversation: members.input,
    namesVendorState: marks.namesVendorState,
    hasMediaWords: marks.hasMediaWords,
    namesOurs: marks.namesOurs,
    losesDigits: marks.losesDigits,
    spans: new BodySpans(members.model),
  }
}

const memberNames = [
  'model',
  'input',
  'stream',
  'store',
  'background',
  'include',
  'max_output_tokens',
  'previous_response_id',
  'conversation',
  'prompt',
  'tools',
  'prompt_cache_key',
  'user',
  'safety_identifier',
  'metadata',
] as const

/** The changes for a request that produces the background answer. */
function backgroundFacts(
  raw: Buffer,
  { model, stream, store, background, include }: Partial<Record<(typeof memberNames)[number], ByteRange>>,
): BackgroundFacts | undefined {
  if (model === undefined) return undefined
  const included: unknown = include === undefined ? undefined : parseSpan(raw, include, 'include')
  const words = Array.isArray(included) ? included.filter((each) => typeof each === 'string') : []
  return {
    removed: [stream, store, background, include].filter((span) => span !== undefined),
    at: model.end,
    include: words,
    showsEncrypted: words.includes('reasoning.encrypted_content'),
  }
}

function readConversation(
  raw: Buffer,
  span: ByteRange | undefined,
  previousId: string | undefined,
): RequestFacts['runsIn'] {
  const id = span === undefined ? undefined : conversationIn(parseSpan(raw, span, 'conversation'), previousId)
  return id === undefined || span === undefined ? undefined : { id, span }
}

/** `hasElsewhere`: whether an earlier answer or a stored prompt provides the input. */
function checkInput(raw: Buffer, span: ByteRange | undefined, hasElsewhere: boolean): void {
  if (!isGiven(raw, span)) {
    if (hasElsewhere) return
    throw invalid('input', 'required: send a string or a non-empty array of items')
  }
  const kind = kindAt(raw, span.start)
  if (kind === 'string') return
  if (kind !== 'array') throw wrongKind(raw, span, 'input', 'a string or a non-empty array')
  if (!hasElsewhere && skipSpace(raw, span.start + 1, span.end) === span.end - 1) {
    throw invalid('input', 'expected a non-empty array, got an empty one')
  }
}

/** Undefined if absent, null or empty. */
function readString(raw: Buffer, span: ByteRange | undefined, path: string): string | undefined {
  if (!isGiven(raw, span)) return undefined
  if (kindAt(raw, span.start) !== 'string') throw wrongKind(raw, span, path, 'a string')
  return String(parseSpan(raw, span, path)) || undefined
}

function isGiven(raw: Buffer, span: ByteRange | undefined): span is ByteRange {
  return span !== undefined && kindAt(raw, span.start) !== 'null'
}
