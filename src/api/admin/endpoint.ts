import type { Request, Response } from 'express'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit-queries.ts'
import type { RequiredArea, Verb } from '../../access/permissions.ts'
import { checked } from '../../canonical/checked.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { Description, OwnAnswer, Schemas } from '../own-endpoint.ts'

/**
 * An entry that defines an endpoint of the admin API. Its route, its permissions, its checks and its part of
 * /openapi.json are derived from the entry. Calls have no row in the usage log; changes are recorded in the
 * audit log.
 */
export interface AdminEndpoint extends Description, Schemas {
  guard: 'admin'
  area: RequiredArea
  verb: Verb
  /** `own`: members can also call it, for their own tenant only. */
  tenants: 'all' | 'own'
  /**
   * True: the endpoint recognises repeated calls itself. No response is stored for the Idempotency-Key, and a
   * repeated call does not write to the audit log.
   */
  knowsRepeats?: boolean
  /** True: the body contains a request that is passed on, in which numbers keep their digits. */
  keepsDigits?: boolean
  /** The maximum duration of a change in milliseconds. Default: 5,000. */
  withinMs?: number
  /**
   * The resource whose ETag is compared with `if-match`; its `change` calls `requireMatch`. Undefined: the
   * endpoint does not support `if-match`.
   */
  ifMatch?: TaggedResource
  /** Checks parameters and body. Throws GatewayError `invalid_request` that names the invalid field. */
  check(came: { params: unknown; query: unknown; body: unknown }): Checked
  /**
   * Handles a read, or an action that changes no rows, with the output of `check`. Undefined: the endpoint
   * changes rows.
   */
  handle?(call: AdminCall & Checked): Promise<AdminAnswer | undefined>
  /** Handles a change in a transaction, with the output of `check`. */
  change?(call: AdminChange & Checked): Promise<AdminAnswer>
  /**
   * Notifies others of a change, after it is committed and before the response is sent. Not called for a
   * repeated call. Never rejects.
   */
  committed?(body: unknown): Promise<void>
}

/**
 * Resources with an ETag. Credentials and offers are part of their channel, and a price is part of its model.
 */
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

/** A call of the admin API by an identified and authorised caller. */
export interface AdminCall {
  actor: Actor
  request: Request
  response: Response
  /** The id of the call in `x-request-id`, the audit log and the log of the process. */
  requestId: string
  /**
   * Aborts when the client disconnects. For downloads and event streams, it also aborts when the caller is no
   * longer authorised.
   */
  signal: AbortSignal
}

/** A call that changes rows. */
export interface AdminChange extends Omit<AdminCall, 'response' | 'signal'> {
  /**
   * Commits all of its writes or none. The change can run again after a deadlock, so it must only change
   * rows.
   */
  tx: TypedTransaction
  /**
   * Throws `precondition_failed` if the client sent `if-match` and the resource now has another ETag. Compute
   * the ETag from rows that the transaction has locked, so that the second of two concurrent changes sees
   * what the first has committed.
   */
  requireMatch(etag: string): void
  /** Writes a line of the audit log. Each change writes at least one. */
  audit(entry: AuditEntry): Promise<void>
}

export interface AdminAnswer<Body = unknown> extends Omit<OwnAnswer<Body>, 'status' | 'body'> {
  /** Default: 200. */
  status?: 200 | 201 | 202
  body: Body
  /** The ETag of the resource, as returned by `etagOf`. */
  etag?: string
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
> extends Description {
  area: RequiredArea
  /** Default: `read` for GET, `write` for all other methods. */
  verb?: Verb
  /** Default: `all`, which excludes members. */
  tenants?: 'all' | 'own'
  knowsRepeats?: boolean
  keepsDigits?: boolean
  withinMs?: number
  params?: Params
  /** By default, any parameter is refused. */
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
  /** Returns undefined if the handler has sent the response itself. */
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
  /** See `AdminEndpoint.committed`. Receives the body of the response. */
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

/** Defines a read, or an action that changes no rows. */
export const adminEndpoint: ReadMaker = (
  definition: ReadDefinition<z.ZodObject, z.ZodObject, z.ZodType | undefined, z.ZodType | undefined>,
) => entryOf(definition)

/** Defines a change of rows: one transaction with its lines in the audit log and its Idempotency-Key. */
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
