import { invalid } from '../../canonical/field-error.ts'
import type { RefinedCount } from '../../canonical/price-parts.ts'
import { BodyMarks } from '../body-marks.ts'
import { type ByteRange, type JsonBounds, kindAt, parseSpan, scanElements } from '../json-scan.ts'
import { BodySpans } from '../patch-request.ts'
import type { RequestFacts } from '../protocol.ts'
import {
  readBoolean,
  readInteger,
  readModel,
  readTokensMax,
  scanBody,
  stringAt,
  wrongKind,
} from '../scan-facts.ts'
import { readStreamOptions } from './request.ts'

/** What the gateway needs to know about an endpoint whose requests and answers it only passes through. */
export interface PlainFormat {
  /** The member that contains the model's input: a string or an array. It is required. */
  input: 'input' | 'prompt'
  /** True if the answer is text, which costs output tokens and can be streamed. Defaults to false. */
  writes?: boolean
  /** The unit in which the input, then a string, can be charged in place of tokens. */
  counts?: RefinedCount
  /**
   * The media type of an answer that is not JSON. It is passed on as it arrives; with `stream_format: "sse"`,
   * the client requests it as events.
   */
  answers?: string
}

/**
 * Creates a reader for the bodies of plain endpoints, which share the model and their kind of input.
 * Everything else is checked by the upstream. The reader throws the same errors as the chat format's
 * `readRequest`.
 */
export function plainReader({ input, writes = false, counts, answers }: PlainFormat) {
  const inputKind = counts === undefined ? 'a string or an array' : 'a string'
  return (raw: Buffer, bounds: JsonBounds): RequestFacts => {
    const marks = new BodyMarks()
    const members = scanBody(raw, memberNames, bounds, marks)
    const depthMax = bounds.jsonDepthMax
    const model = readModel(raw, members.model)
    const given = members[input]
    if (!given) throw invalid(input, `required: send ${inputKind}`)
    const kind = kindAt(raw, given.start)
    if (kind !== 'string' && (kind !== 'array' || counts !== undefined))
      throw wrongKind(raw, given, input, inputKind)
    const stream =
      answers === undefined
        ? writes && readBoolean(raw, members.stream, 'stream')
        : asksForEvents(raw, members)
    const usage = writes && stream ? readStreamOptions(raw, members.stream_options, depthMax) : undefined
    return {
      model,
      stream,
      maxOutputTokens: writes
        ? readTokensMax(raw, members, 'max_tokens')
        : answers === undefined
          ? 0
          : undefined,
      outputBound: writes ? 'max_tokens' : undefined,
      choices: writes ? choicesOf(raw, members, given, depthMax) : 1,
      isBatch: kind === 'array',
      counts: counts && { [counts]: charactersIn(raw, given, input) },
      wantsUsageFrame: usage?.wanted ?? false,
      heldId: undefined,
      session: undefined,
      endUser: stringAt(raw, members.user),
      conversation: undefined,
      namesVendorState: marks.namesVendorState,
      hasMediaWords: marks.hasMediaWords,
      namesOurs: marks.namesOurs,
      vectorsAs: vectorsAs(raw, members),
      spans: new BodySpans(members.model, usage),
    }
  }
}

const memberNames = [
  'model',
  'input',
  'prompt',
  'stream',
  'stream_options',
  'stream_format',
  'max_tokens',
  'n',
  'best_of',
  'user',
  'encoding_format',
  'output_dtype',
] as const
type Members = Partial<Record<(typeof memberNames)[number], ByteRange>>

function asksForEvents(raw: Buffer, { stream_format }: Members): boolean {
  return stream_format !== undefined && parseSpan(raw, stream_format, 'stream_format') === 'sse'
}

/**
 * The number of Unicode code points. OpenAI documents its limit and its prices in characters, without
 * defining them. Code points are what Python and the `maxLength` of JSON Schema count. UTF-16 code units
 * would count an emoji twice, and what counts as one grapheme depends on the version of Unicode.
 */
function charactersIn(raw: Buffer, span: ByteRange, path: string): number {
  const text = parseSpan(raw, span, path)
  let count = 0
  if (typeof text === 'string') for (const _ of text) count++
  return count
}

/** Vectors of other vendors can have types other than 32-bit floats. */
function vectorsAs(raw: Buffer, { encoding_format, output_dtype }: Members): RequestFacts['vectorsAs'] {
  if (encoding_format === undefined || output_dtype !== undefined) return undefined
  const wanted = parseSpan(raw, encoding_format, 'encoding_format')
  return wanted === 'base64' || wanted === 'float' ? wanted : undefined
}

/** The number of generated texts: `n` per prompt, or `best_of` to choose them from. */
function choicesOf(raw: Buffer, members: Members, prompt: ByteRange, depthMax: number): number {
  const each = readInteger(raw, members.n, 'n', 1, 128) ?? 1
  const tried = readInteger(raw, members.best_of, 'best_of', 1, 128) ?? 1
  return Math.max(each, tried) * promptsIn(raw, prompt, depthMax)
}

/** An array of numbers is a single prompt in the form of tokens. */
function promptsIn(raw: Buffer, prompt: ByteRange, depthMax: number): number {
  if (kindAt(raw, prompt.start) === 'string') return 1
  const [first, ...others] = scanElements(raw, prompt, { depthMax })
  return first === undefined || kindAt(raw, first.start) === 'number' ? 1 : 1 + others.length
}
