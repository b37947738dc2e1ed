import { z } from 'zod'
import type { ServerEvent } from './server-events.ts'

/** The result of one check. The detail is a phrase for the last column of the table. */
export interface CheckFinding {
  verdict: CheckVerdict
  detail: string
}

/**
 * - `ok`: it works, as far as a response can show.
 * - `refused`: the server refuses it with an error in the format's envelope.
 * - `ignored`: accepted, but the effect is missing where a response would show it.
 * - `broken`: a client of this format fails, because of a wrong shape, a wrong envelope, a stream that is cut
 *   off, or a server error.
 * - `unknown`: not checked, or the response cannot show it.
 */
export type CheckVerdict = (typeof verdicts)[number]
export const verdicts = ['ok', 'refused', 'ignored', 'broken', 'unknown'] as const

/** A request, independent of any format. */
export interface Ask {
  turns: readonly CheckTurn[]
  system?: string
  /** The names of the sample tools. */
  tools?: readonly string[]
  /** By default the model chooses. */
  choice?: 'none' | 'required' | { only: string }
  /** Whether the response must follow the sample schema. */
  isStructured?: true
  stop?: string
  /** `other` is the format's second way to request reasoning. */
  reasoning?: 'usual' | 'other'
  isStream?: true
  /** Members to add to the body, or to replace in it. */
  extra?: Readonly<Record<string, unknown>>
}

export type CheckTurn =
  | { role: 'user'; text: string; png?: string; pdf?: string }
  | { role: 'assistant'; raw: unknown }
  | { role: 'tool'; results: readonly { id: string; output: string }[] }

/** A response, independent of any format. */
export interface Reply {
  id: string | undefined
  text: string
  calls: readonly Call[]
  isCut: boolean
  /** The text of the model's thoughts. Often empty even though the model thought. */
  thought: string
  usage: { input: number; output: number; reasoning: number } | undefined
  /** The number of pieces of text in a stream; 1 for a response that is not streamed. */
  pieces: number
  /** The assistant's turn, for the next request to repeat. */
  raw: unknown
  /** The whole response, for checks of what only this format has. */
  body: unknown
}

export interface Call {
  id: string
  name: string
  /** The JSON text exactly as received. */
  input: string
}

/** The responses by the name of the check. */
export type Known = ReadonlyMap<string, Reply>

/** A line of the table. */
export interface Check {
  name: string
  /** Whether ordinary clients of the format cannot work without it. */
  isMust?: true
  /** Whether a refusal is the expected response. */
  isRefusalRight?: true
  /** Returns the request, or a finding if no request is needed. */
  ask(known: Known): Ask | CheckFinding
  /** Returns what to send if the first request was refused. */
  instead?(known: Known): Ask | CheckFinding
  /**
   * Judges what the response shows. Undefined if it shows nothing, in which case it is only known that the
   * request was accepted.
   */
  judge?(reply: Reply, known: Known): CheckFinding | undefined
  /** The fields of the body that this check covers. The default is its name. */
  fields?: readonly string[]
}

/**
 * A wire format from the client's point of view. It shares no code with the gateway's codecs, because a
 * mistake made in both would go unnoticed.
 */
export interface WireFormat {
  id: FormatId
  title: string
  path: string
  headers(key: string): Record<string, string>
  body(model: string, ask: Ask): Record<string, unknown>
  /** Throws a WrongShape error. */
  read(body: unknown): Reply
  /** Throws a WrongShape error. */
  readStream(events: readonly ServerEvent[]): Reply
  /**
   * Reads the error from a body in the format's envelope, such as `invalid_request_error: Unknown field`.
   * Throws a WrongShape error.
   */
  readError(body: unknown): string
  /** Members that every server of this format must refuse. */
  malformed: Readonly<Record<string, unknown>>
  checks: readonly Check[]
}

export type FormatId = (typeof formatIds)[number]
export const formatIds = ['chat', 'responses', 'messages'] as const

/** A response that a client of the format cannot read. The message becomes the finding's detail. */
export class WrongShape extends Error {}

/** Parses the value. Throws a WrongShape error that names the first wrong member. */
export function shaped<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const path = issue?.path.join('.') ?? ''
  throw new WrongShape(`${what}${path === '' ? '' : `, ${path}`}: ${issue?.message ?? 'wrong shape'}`)
}

/**
 * Reads `{ error: { message, type, code } }`, the envelope of Chat and Responses. Throws a WrongShape error.
 */
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
