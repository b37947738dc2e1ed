import type { Request, Response } from 'express'
import { z } from 'zod'
import { checked } from '../canonical/checked.ts'
import type { Json } from '../canonical/json.ts'
import type { Endpoint } from '../pipeline/endpoints.ts'
import type { Identified } from '../pipeline/identify.ts'
import type { Received } from '../pipeline/received.ts'

/**
 * An entry that defines an endpoint of our own API, which no model answers. Its route, its checks and its
 * part of /openapi.json are derived from the entry.
 */
export type OwnEndpoint = KeyEndpoint | LinkEndpoint

/** For clients with a key. */
export type KeyEndpoint = Guarded<'key', Identified>
/** For anyone with a signed link. */
export type LinkEndpoint = Guarded<'link', Received>

export const keyEndpoint = endpointFor<'key', Identified>('key')
export const linkEndpoint = endpointFor<'link', Received>('link')

/** The description of an entry, for Express and for /openapi.json. */
export interface Description extends Endpoint {
  /** The path in the syntax of Express, needed if `path` is not enough because an id may contain slashes. */
  route?: string
  /** Details beyond `summary`. */
  description?: string
  /**
   * Whether a successful request has a row. Reads of the usage log have none, because each read would add
   * another row to read. A refused request always has one.
   */
  logged?: boolean
  /** Whether a request counts against the limits of its key before its body is read. Default: it does not. */
  limited?: boolean
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
  /**
   * Reads a large body in a thread. Resolves to the members that `body` checks. If absent, a large body is
   * read like any other.
   */
  readLarge?(stage: Identified, bytes: Buffer): Promise<Json>
  /** A response, or one event of a stream; undefined for a response of bytes. */
  answer: z.ZodType | undefined
}

interface Guarded<Guard extends string, Stage> extends Description, Schemas {
  guard: Guard
  /**
   * Checks the input and answers the request. Rejects with GatewayError `invalid_request` that names the
   * invalid field.
   */
  handle(came: Came<Stage>): Promise<OwnAnswer | undefined>
}

/** The input of a request, not yet checked. */
interface Came<Stage> {
  stage: Stage
  http: OwnHttp
  params: unknown
  query: unknown
  body: unknown
}

/** Our own API is served over HTTP only, so its handlers can use Express directly. */
export interface OwnHttp {
  request: Request
  response: Response
}

/** A response. Handlers that have already responded themselves return undefined instead. */
export interface OwnAnswer<Body = unknown> {
  /** Default: 200. */
  status?: 200 | 201 | 202
  /** A JSON value, or its encoded bytes. */
  body: Body | Uint8Array
  headers?: Record<string, string | string[]>
}

/** An entry as written in its file: `handle` receives the output of the schemas. */
interface Definition<
  Stage,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> extends Description {
  params?: Params
  /** By default, parameters are ignored. */
  query?: Query
  /**
   * Whether the client's format has query parameters; if not, they are ignored. By default, they are read.
   */
  readsQuery?(stage: Stage): boolean
  body?: Body
  readLarge?(stage: Identified, bytes: Buffer): Promise<Json>
  answer?: Answer
  handle(own: {
    stage: Stage
    http: OwnHttp
    params: z.output<Params>
    query: z.output<Query>
    body: OutputOf<Body>
  }): Promise<OwnAnswer<InputOf<Answer>> | undefined>
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : never

type EndpointMaker<Guard extends string, Stage> = <
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: Definition<Stage, Params, Query, Body, Answer>,
) => Guarded<Guard, Stage>

const nothing = z.object({})

function endpointFor<const Guard extends string, Stage>(guard: Guard): EndpointMaker<Guard, Stage> {
  return (
    definition: Definition<Stage, z.ZodObject, z.ZodObject, z.ZodType | undefined, z.ZodType | undefined>,
  ) => {
    const { params = nothing, query = nothing, readsQuery = () => true, body, answer } = definition
    return {
      ...definition,
      guard,
      params,
      query,
      body,
      answer,
      handle: ({ stage, http, ...came }) =>
        definition.handle({
          stage,
          http,
          params: checked(params, came.params),
          query: checked(query, readsQuery(stage) ? came.query : {}),
          body: body === undefined ? undefined : checked(body, came.body),
        }),
    }
  }
}

/** Returns the path in the syntax of Express. */
export function routeOf({ route, path }: Pick<Description, 'route' | 'path'>): string {
  return (route ?? path).replace(/\{(\w+)\}/g, ':$1')
}
