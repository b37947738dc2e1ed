import { z } from 'zod'
import type { ServerEvent } from '../protocols/event-reader.ts'

/** What one check found. The detail is a phrase for the last column of the table. */
export interface CheckFinding {
  verdict: CheckVerdict
  detail: string
}

/**
 * - `ok`: it works, as far as an answer shows.
 * - `refused`: an error in the format's envelope says no.
 * - `ignored`: accepted, but the effect is missing where an answer would show it.
 * - `broken`: a client of this format fails: wrong shape, wrong envelope, cut stream, server error.
 * - `unknown`: not asked, or the answer cannot show it.
 */
export type CheckVerdict = (typeof verdicts)[number]
export const verdicts = ['ok', 'refused', 'ignored', 'broken', 'unknown'] as const

/** A request in the terms of no format. */
export interface Ask {
  turns: readonly CheckTurn[]
  system?: string
  /** Names of the sample tools. */
  tools?: readonly string[]
  /** Default: the model chooses. */
  choice?: 'none' | 'required' | { only: string }
  /** The answer must follow the sample schema. */
  isStructured?: true
  stop?: string
  /** `other`: the format's second way to ask for reasoning. */
  reasoning?: 'usual' | 'other'
  isStream?: true
  /** Members that the body gets besides, or instead of others. */
  extra?: Readonly<Record<string, unknown>>
}

export type CheckTurn =
  | { role: 'user'; text: string; png?: string; pdf?: string }
  | { role: 'assistant'; raw: unknown }
  | { role: 'tool'; results: readonly { id: string; output: string }[] }

/** An answer in the terms of no format. */
export interface Reply {
  id: string | undefined
  text: string
  calls: readonly Call[]
  isCut: boolean
  /** Text of the model's thought; often empty, although the model thought. */
  thought: string
  usage: { input: number; output: number; reasoning: number } | undefined
  /** Number of pieces of text in a stream; 1 in a whole answer. */
  pieces: number
  /** The assistant's turn, as the next request repeats it. */
  raw: unknown
  /** The whole answer, to look for what only this format has. */
  body: unknown
}

export interface Call {
  id: string
  name: string
  /** JSON, as it came. */
  input: string
}

/** Answers by the name of the check. */
export type Known = ReadonlyMap<string, Reply>

/** One line of the table. */
export interface Check {
  name: string
  /** Without it, ordinary clients of the format cannot work. */
  isMust?: true
  /** A refusal is the right answer. */
  isRefusalRight?: true
  /** The request, or the finding where none is needed. */
  ask(known: Known): Ask | CheckFinding
  /** What to ask when the first request was refused. */
  instead?(known: Known): Ask | CheckFinding
  /** What the answer shows. Undefined: it shows nothing, so the request was accepted and no more is known. */
  judge?(reply: Reply, known: Known): CheckFinding | undefined
  /** Fields of the body that this check is about. Default: its name. */
  fields?: readonly string[]
}

/**
 * A wire format as a client sees it. It shares no code with the gateway's codecs: a mistake made twice would
 * look right.
 */
export interface WireFormat {
  id: FormatId
  title: string
  path: string
  headers(key: string): Record<string, string>
  body(model: string, ask: Ask): Record<string, unknown>
  /** Throws WrongShape. */
  read(body: unknown): Reply
  /** Throws WrongShape. */
  readStream(events: readonly ServerEvent[]): Reply
  /**
   * The error in a body of the format's envelope, such as `invalid_request_error: Unknown field`. Throws
   * WrongShape.
   */
  readError(body: unknown): string
  /** Members that no server of this format may accept. */
  malformed: Readonly<Record<string, unknown>>
  checks: readonly Check[]
}

export type FormatId = (typeof formatIds)[number]
export const formatIds = ['chat', 'responses', 'messages'] as const

/** An answer that a client of the format cannot read. The message is the finding's detail. */
export class WrongShape extends Error {}

/** The value in its shape. Throws WrongShape that names the first wrong member. */
export function shaped<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.join('.') ?? ''
  throw new WrongShape(`${what}${path === '' ? '' : `, ${path}`}: ${issue?.message ?? 'wrong shape'}`)
}

/** `{ error: { message, type, code } }`, the envelope of Chat and Responses. Throws WrongShape. */
export function readOpenAiError(body: unknown): string {
  const { error } = shaped(openAiError, body, 'the error')
  return `${error.code ?? error.type ?? 'error'}: ${error.message}`
}

const openAiError = z.object({
  error: z.object({
    message: z.string(),
    type: z.string().nullish(),
    code: z.union([z.string(), z.number()]).nullish(),
  }),
})
