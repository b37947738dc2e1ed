import type { Request, Response } from 'express'
import { z } from 'zod'
import { checked } from '../canonical/checked.ts'
import type { Json } from '../canonical/json.ts'
import type { Endpoint } from '../pipeline/endpoints.ts'
import type { Identified } from '../pipeline/identify.ts'
import type { Received } from '../pipeline/received.ts'

/**
 * An entry that defines an endpoint of our own API, which no model answers. Its route, its checks and its
 * part of /openapi.json are derived from the entry. `guard` says who may call it; the other differences
 * between kinds of callers are fields of `KeyEndpoint` and `AdminEndpoint`.
 */
export interface ApiEntry<Guard extends string, Caller> extends Description, Schemas {
  guard: Guard
  /** Answers a request with checked input. Returns undefined if it has sent the response itself. */
  handle(call: ApiCall & Caller & CheckedInput): Promise<ApiAnswer | undefined>
}

/** For clients with a key. */
export interface KeyEndpoint extends ApiEntry<'key', { stage: Identified }>, KeyTerms {}
/** For anyone with a signed link. A request is never logged, unless it is refused. */
export type LinkEndpoint = ApiEntry<'link', { stage: Received }>
export type ClientEndpoint = KeyEndpoint | LinkEndpoint

interface KeyTerms {
  /**
   * Whether a successful request has a row. Reads of the usage log have none, because each read would add
   * another row to read. A refused request always has one.
   */
  logged?: boolean
  /** Whether a request counts against the limits of its key before its body is read. Default: it does not. */
  limited?: boolean
  /**
   * Whether the client's format has query parameters; if not, they are ignored. By default, they are read.
   */
  readsQuery?(stage: Identified): boolean
  /**
   * Reads a large body in a thread. Resolves to the members that `body` checks. If absent, a large body is
   * read like any other.
   */
  readLarge?(stage: Identified, bytes: Buffer): Promise<Json>
}

/** The description of an entry, for Express and for /openapi.json. */
export interface Description extends Endpoint {
  /** The path in the syntax of Express, needed if `path` is not enough because an id may contain slashes. */
  route?: string
  /** Details beyond `summary`. */
  description?: string
  /** The format of a successful response. Default: JSON. */
  media?:
    | 'application/json'
    | 'text/event-stream'
    | 'image/*'
    | 'text/csv'
    | 'text/yaml'
    | 'application/x-ndjson'
    | 'application/octet-stream'
  /**
   * The parts of a multipart form, which the handler itself reads as a stream. No response is stored for
   * repeated requests.
   */
  form?: z.ZodObject
  /** The statuses of a successful response, all with the same body. Default: 200. */
  statuses?: readonly (200 | 201 | 202)[]
}

/** The schemas of requests and responses. */
export interface Schemas {
  /** The parameters of the path. */
  params: z.ZodObject
  query: z.ZodObject
  /** A JSON body; undefined: the endpoint reads none. */
  body: z.ZodType | undefined
  /** A response, or one event of a stream; undefined for a response of bytes. */
  answer: z.ZodType | undefined
}

/** Our own API is served over HTTP only, so its handlers can use Express directly. */
export interface ApiCall {
  request: Request
  response: Response
  /** The id of the call in `x-request-id` and the log of the process. */
  requestId: string
  /**
   * Aborts when the client disconnects. For downloads and event streams of the admin API, it also aborts when
   * the caller is no longer authorised.
   */
  signal: AbortSignal
}

/** The input of a call, as its schemas return it. */
export interface CheckedInput {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

/** The input of a call, not yet checked. */
export interface SentInput {
  params: Record<string, string>
  query: unknown
  body: unknown
}

/** Throws GatewayError `invalid_request` that names the invalid field. */
export function checkedBy({ params, query, body }: Schemas, sent: SentInput): CheckedInput {
  return {
    params: checked(params, sent.params),
    query: checked(query, sent.query),
    body: body === undefined ? undefined : checked(body, sent.body),
  }
}

export interface ApiAnswer<Body = unknown> {
  /** Default: 200. */
  status?: 200 | 201 | 202
  /** A JSON value, or its encoded bytes. */
  body: Body | Uint8Array
  headers?: Record<string, string | string[]>
  /** The ETag of a resource of the admin API, as returned by `etagOf`. */
  etag?: string
}

/** The steps of a call that depend on who makes it, in their order. See `dispatch`. */
export interface Steps {
  readonly requestId: string
  /** Identifies the caller. Rejects if it is not allowed to make this call. */
  admit(): Promise<void>
  /** Returns the input with its body. */
  read(input: Omit<SentInput, 'body'>): Promise<SentInput>
  handle(input: CheckedInput): Promise<ApiAnswer | undefined>
  finish(answer: ApiAnswer | undefined): Promise<void>
  refuse(cause: unknown): Promise<void>
  /** Runs at the end of every call. */
  release(): void
}

/** An entry as written in its file: `handle` receives the output of the schemas. */
export interface Definition<
  Caller,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> extends Description {
  params?: Params
  /** By default, the API for clients ignores parameters, and the admin API refuses them. */
  query?: Query
  body?: Body
  answer?: Answer
  handle(call: ApiCall & Caller & InputOf<Params, Query, Body>): Promise<AnswerOf<Answer> | undefined>
}

export interface InputOf<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
> {
  params: z.output<Params>
  query: z.output<Query>
  body: Body extends z.ZodType ? z.output<Body> : undefined
}

export type AnswerOf<Answer> = ApiAnswer<Answer extends z.ZodType ? z.input<Answer> : never>

/** Makes entries. `Terms` are the fields that only entries of this kind have. */
export type Maker<Caller, Terms, Made> = <
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: Definition<Caller, Params, Query, Body, Answer> & Terms,
) => Made

export type AnyDefinition<Caller> = Definition<
  Caller,
  z.ZodObject,
  z.ZodObject,
  z.ZodType | undefined,
  z.ZodType | undefined
>

/** The schemas of an entry; `nothing` are those of parameters that it does not define. */
export function schemasOf(definition: Partial<Schemas>, nothing: z.ZodObject): Schemas {
  const { params = nothing, query = nothing, body, answer } = definition
  return { params, query, body, answer }
}

const nothing = z.object({})

export const keyEndpoint: Maker<{ stage: Identified }, KeyTerms, KeyEndpoint> = (
  definition: AnyDefinition<{ stage: Identified }> & KeyTerms,
) => ({ ...definition, ...schemasOf(definition, nothing), guard: 'key' })

export const linkEndpoint: Maker<{ stage: Received }, object, LinkEndpoint> = (
  definition: AnyDefinition<{ stage: Received }>,
) => ({ ...definition, ...schemasOf(definition, nothing), guard: 'link' })

/** Returns the path in the syntax of Express. */
export function routeOf({ route, path }: Pick<Description, 'route' | 'path'>): string {
  return (route ?? path).replace(/\{(\w+)\}/g, ':$1')
}
