import { z } from 'zod'
import { checked } from '../canonical/checked.ts'
import type { Json } from '../canonical/json.ts'
import type { Endpoint } from '../stages/endpoints.ts'
import type { Identified } from '../stages/identify.ts'
import type { Received } from '../stages/received.ts'

/**
 * An endpoint of our own API, which no model answers: one entry. Its route, its checks and its part of
 * /openapi.json are made from it.
 */
export type OwnEndpoint = KeyEndpoint | LinkEndpoint

/** For clients with a key. */
export type KeyEndpoint = Guarded<'key', Identified>
/** For every client with a signed link. */
export type LinkEndpoint = Guarded<'link', Received>

export const keyEndpoint = endpointFor<'key', Identified>('key')
export const linkEndpoint = endpointFor<'link', Received>('link')

/** The description of an entry, for Express and for /openapi.json. */
export interface Description extends Endpoint {
  /** The path in the words of Express, where `path` is not enough: an id may have slashes. */
  route?: string
  /** Details beyond `summary`. */
  description?: string
  /**
   * Whether a request that succeeds has a row. Reads of the usage log have none: a read that added a row
   * would never reach the end. A refused request always has one.
   */
  logged?: boolean
  /** Whether a request takes from the limits of its key, before its body is read. Default: it does not. */
  limited?: boolean
  /** The format of a good answer. Default: JSON. */
  media?:
    | 'application/json'
    | 'text/event-stream'
    | 'image/*'
    | 'text/csv'
    | 'text/yaml'
    | 'application/x-ndjson'
    | 'application/octet-stream'
  /**
   * The parts of a multipart form, which the handler reads by itself while it comes. No answer is kept for a
   * repeat of it.
   */
  form?: z.ZodObject
  /** Statuses of a good answer, all in the same shape. Default: 200. */
  statuses?: readonly (200 | 201 | 202)[]
}

/** The schemas of what comes and what goes. */
export interface Schemas {
  /** Of the path. */
  params: z.ZodObject
  query: z.ZodObject
  /** A JSON body; undefined: the endpoint reads none. */
  body: z.ZodType | undefined
  /**
   * Reads a large body in a thread. Resolves with the members that `body` checks. Absent: a large body is
   * read like any other.
   */
  readLarge?(stage: Identified, bytes: Buffer): Promise<Json>
  /** One answer, or one event of a stream; undefined: bytes. */
  answer: z.ZodType | undefined
}

interface Guarded<Guard extends string, Stage> extends Description, Schemas {
  guard: Guard
  /** Check what came, then answer it. Rejects GatewayError `invalid_request` that names the bad field. */
  handle(came: Came<Stage>): Promise<OwnAnswer | undefined>
}

/** The input of a request, unchecked. */
interface Came<Stage> {
  stage: Stage
  params: unknown
  query: unknown
  body: unknown
}

/** Undefined in its place: the handler has answered by itself. */
export interface OwnAnswer<Body = unknown> {
  /** Default: 200. */
  status?: 200 | 201 | 202
  /** JSON, or the bytes of it. */
  body: Body | Uint8Array
  headers?: Record<string, string | string[]>
}

/** An entry as its file writes it: `handle` gets what the schemas made of the request. */
interface Definition<
  Stage,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> extends Description {
  params?: Params
  /** Default: parameters are ignored. */
  query?: Query
  /** Whether this client's format has the parameters. Else they are ignored. Default: it has. */
  readsQuery?(stage: Stage): boolean
  body?: Body
  readLarge?(stage: Identified, bytes: Buffer): Promise<Json>
  answer?: Answer
  handle(own: {
    stage: Stage
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
      handle: ({ stage, ...came }) =>
        definition.handle({
          stage,
          params: checked(params, came.params),
          query: checked(query, readsQuery(stage) ? came.query : {}),
          body: body === undefined ? undefined : checked(body, came.body),
        }),
    }
  }
}

/** The path as Express takes it. */
export function routeOf({ route, path }: Pick<Description, 'route' | 'path'>): string {
  return (route ?? path).replace(/\{(\w+)\}/g, ':$1')
}
