import type { Request, Response } from 'express'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit-queries.ts'
import type { RequiredArea, Verb } from '../../access/permissions.ts'
import { checked } from '../../canonical/checked.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { Description, OwnAnswer, Schemas } from '../own-endpoint.ts'

/**
 * An endpoint of the admin API: one entry. Its route, who may call it, its checks and its part of
 * /openapi.json are made from it. It has no row in the usage log; its changes are in the audit log.
 */
export interface AdminEndpoint extends Description, Schemas {
  guard: 'admin'
  area: RequiredArea
  verb: Verb
  /** `own`: members may call it too, for their own tenant only. */
  tenants: 'all' | 'own'
  /**
   * True: it knows a repeat by itself. No answer is kept for its Idempotency-Key, and a repeat writes no line
   * of the audit log.
   */
  knowsRepeats?: boolean
  /** True: its body has a request that is passed on, whose numbers keep their digits. */
  keepsDigits?: boolean
  /** How long a change may take. Default: 5,000. */
  withinMs?: number
  /**
   * The resource whose ETag `if-match` must have. Its `change` calls `requireMatch`. Undefined: it takes no
   * `if-match`.
   */
  ifMatch?: TaggedResource
  /** Check parameters and body. Throws GatewayError `invalid_request` that names the bad field. */
  check(came: { params: unknown; query: unknown; body: unknown }): Checked
  /** Answers what `check` returned: a read, or an action that changes no row. Undefined: it changes rows. */
  handle?(call: AdminCall & Checked): Promise<AdminAnswer | undefined>
  /** Answers what `check` returned, in a transaction. */
  change?(call: AdminChange & Checked): Promise<AdminAnswer>
  /**
   * Tells others of a change, after its commit and before its answer. Not called for a repeat. It never
   * rejects.
   */
  committed?(body: unknown): Promise<void>
}

/** What has an ETag. Credentials and offers are parts of their channel, and a price is one of its model. */
export type TaggedResource =
  | 'tenant'
  | 'group'
  | 'key'
  | 'channel'
  | 'model'
  | 'settings'
  | 'user'
  | 'view'
  | 'alert'

interface Checked {
  params: Record<string, unknown>
  query: Record<string, unknown>
  body: unknown
}

/** A call of the admin API whose caller is known, and may make it. */
export interface AdminCall {
  actor: Actor
  request: Request
  response: Response
  /** The id of the call, in `x-request-id`, the audit log and the process's log. */
  requestId: string
  /**
   * Aborts when the client has left; in an answer that is a file or a stream of events, also when the caller
   * may no longer call.
   */
  signal: AbortSignal
}

/** A call that changes rows. */
export interface AdminChange extends Omit<AdminCall, 'response' | 'signal'> {
  /** Commits all of its writes or none. It may run again after a deadlock: change nothing but rows. */
  tx: TypedTransaction
  /**
   * Throws `precondition_failed` where the client sent `if-match` and the resource has another ETag now. Make
   * the ETag from rows that the transaction has locked: of two changes at once, the second then sees what the
   * first has committed.
   */
  requireMatch(etag: string): void
  /** Write a line of the audit log. Each change writes one or more. */
  audit(entry: AuditEntry): Promise<void>
}

export interface AdminAnswer<Body = unknown> extends Omit<OwnAnswer<Body>, 'status' | 'body'> {
  /** Default: 200. */
  status?: 200 | 201 | 202
  body: Body
  /** Of the resource, as `etagOf` makes it. */
  etag?: string
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
> extends Description {
  area: RequiredArea
  /** Default: `read` for GET, `write` for all others. */
  verb?: Verb
  /** Default: `all`, which leaves members out. */
  tenants?: 'all' | 'own'
  knowsRepeats?: boolean
  keepsDigits?: boolean
  withinMs?: number
  params?: Params
  /** Default: any parameter is refused. */
  query?: Query
  body?: Body
}

type Asked<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType | undefined> = {
  params: z.output<Params>
  query: z.output<Query>
  body: Body extends z.ZodType ? z.output<Body> : undefined
}

type AnswerOf<Answer> = AdminAnswer<Answer extends z.ZodType ? z.input<Answer> : never>

const nothing = z.strictObject({})

interface ReadDefinition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> extends Definition<Params, Query, Body> {
  answer?: Answer
  /** Undefined instead of an answer: the handler has sent the response itself. */
  handle(call: AdminCall & Asked<Params, Query, Body>): Promise<AnswerOf<Answer> | undefined>
}

interface ChangeDefinition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> extends Definition<Params, Query, Body> {
  answer?: Answer
  ifMatch?: TaggedResource
  change(call: AdminChange & Asked<Params, Query, Body>): Promise<AnswerOf<Answer>>
  /** See `AdminEndpoint.committed`. Gets the body of the answer. */
  committed?(body: AnswerOf<Answer>['body']): Promise<void>
}

type ReadMaker = <
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: ReadDefinition<Params, Query, Body, Answer>,
) => AdminEndpoint

type ChangeMaker = <
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: ChangeDefinition<Params, Query, Body, Answer>,
) => AdminEndpoint

/** A read, or an action that changes no row. */
export const adminEndpoint: ReadMaker = (
  definition: ReadDefinition<z.ZodObject, z.ZodObject, z.ZodType | undefined, z.ZodType | undefined>,
) => entryOf(definition)

/** A change of rows: one transaction together with its lines in the audit log and its Idempotency-Key. */
export const adminChange: ChangeMaker = (
  definition: ChangeDefinition<z.ZodObject, z.ZodObject, z.ZodType | undefined, z.ZodType | undefined>,
) => entryOf(definition)

type Anything = Definition<z.ZodObject, z.ZodObject, z.ZodType | undefined> & {
  answer?: z.ZodType | undefined
} & Pick<AdminEndpoint, 'handle' | 'change' | 'committed' | 'ifMatch'>

function entryOf(definition: Anything): AdminEndpoint {
  const { method, params = nothing, query = nothing, body, answer, tenants = 'all' } = definition
  return {
    ...definition,
    guard: 'admin',
    verb: definition.verb ?? (method === 'GET' ? 'read' : 'write'),
    tenants,
    params,
    query,
    body,
    answer,
    check: (came) => ({
      params: checked(params, came.params),
      query: checked(query, came.query),
      body: body === undefined ? undefined : checked(body, came.body),
    }),
  }
}
