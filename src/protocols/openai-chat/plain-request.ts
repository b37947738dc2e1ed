import { invalid } from '../../canonical/field-error.ts'
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
}

/**
 * Creates a reader for the bodies of `/embeddings`, `/moderations` and `/completions`, which share the model,
 * the stream flag and their kind of input. Everything else is checked by the upstream. The reader throws the
 * same errors as the chat format's `readRequest`.
 */
export function plainReader({ input, writes = false }: PlainFormat) {
  return (raw: Buffer, bounds: JsonBounds): RequestFacts => {
    const marks = new BodyMarks()
    const members = scanBody(raw, memberNames, bounds, marks)
    const depthMax = bounds.jsonDepthMax
    const model = readModel(raw, members.model)
    const given = members[input]
    if (!given) throw invalid(input, 'required: send a string or an array')
    const kind = kindAt(raw, given.start)
    if (kind !== 'string' && kind !== 'array') throw wrongKind(raw, given, input, 'a string or an array')
    const stream = writes && readBoolean(raw, members.stream, 'stream')
    const usage = stream ? readStreamOptions(raw, members.stream_options, depthMax) : undefined
    return {
      model,
      stream,
      maxOutputTokens: writes ? readTokensMax(raw, members, 'max_tokens') : 0,
      outputBound: writes ? 'max_tokens' : undefined,
      choices: writes ? choicesOf(raw, members, given, depthMax) : 1,
      isBatch: kind === 'array',
      wantsUsageFrame: usage?.wanted ?? false,
      heldId: undefined,
      session: undefined,
      endUser: stringAt(raw, members.user),
      conversation: undefined,
      namesVendorState: marks.namesVendorState,
      hasMediaWords: marks.hasMediaWords,
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
  'max_tokens',
  'n',
  'best_of',
  'user',
  'encoding_format',
  'output_dtype',
] as const
type Members = Partial<Record<(typeof memberNames)[number], ByteRange>>

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
