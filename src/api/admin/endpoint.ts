import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit-queries.ts'
import type { RequiredArea, Verb } from '../../access/permissions.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import {
  type AnswerOf,
  type AnyDefinition,
  type ApiAnswer,
  type ApiCall,
  type ApiEntry,
  type CheckedInput,
  type Definition,
  type Description,
  type InputOf,
  type Maker,
  type Schemas,
  schemasOf,
} from '../endpoint.ts'

/**
 * An entry that defines an endpoint of the admin API. Its route, its permissions, its checks and its part of
 * /openapi.json are derived from the entry. Calls have no row in the usage log; changes are recorded in the
 * audit log.
 */
export interface AdminEndpoint extends Omit<ApiEntry<'admin', { actor: Actor }>, 'handle'> {
  area: RequiredArea
  /** By default, `read` for GET, and `write` for all other methods. */
  verb: Verb
  /** `own`: members can also call it, for their own tenant only. Default: `all`, which excludes members. */
  tenants: 'all' | 'own'
  /**
   * True: the endpoint recognises repeated calls itself. No response is stored for the Idempotency-Key, and a
   * repeated call does not write to the audit log.
   */
  knowsRepeats?: boolean
  /** True: a call may find nothing to change, and then writes nothing to the audit log. */
  mayChangeNothing?: boolean
  /** True: the body contains a request that is passed on, in which numbers keep their digits. */
  keepsDigits?: boolean
  /** The maximum duration of a change in milliseconds. Default: 5,000. */
  withinMs?: number
  /**
   * The resource whose ETag is compared with `if-match`; its `change` calls `requireMatch`. Undefined: the
   * endpoint does not support `if-match`.
   */
  ifMatch?: TaggedResource
  /** Handles a read, or an action that changes no rows. Undefined: the endpoint changes rows. */
  handle?: ApiEntry<'admin', { actor: Actor }>['handle']
  /** Handles a change in a transaction. */
  change?(call: AdminChange & CheckedInput): Promise<ApiAnswer>
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

/** A call of the admin API by an identified and authorised caller. */
export interface AdminCall extends ApiCall {
  actor: Actor
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
  /** Writes a line of the audit log. Each change writes at least one, unless it `mayChangeNothing`. */
  audit(entry: AuditEntry): Promise<void>
}

/** The fields of an entry that only the admin API has. */
type AdminTerms = Pick<
  AdminEndpoint,
  'area' | 'knowsRepeats' | 'mayChangeNothing' | 'keepsDigits' | 'withinMs'
> &
  Partial<Pick<AdminEndpoint, 'verb' | 'tenants'>>

type ChangeDefinition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType | undefined,
  Answer extends z.ZodType | undefined,
> = Omit<Definition<object, Params, Query, Body, Answer>, 'handle'> &
  AdminTerms & {
    ifMatch?: TaggedResource
    change(call: AdminChange & InputOf<Params, Query, Body>): Promise<AnswerOf<Answer>>
    /** See `AdminEndpoint.committed`. Receives the body of the response. */
    committed?(body: Answer extends z.ZodType ? z.input<Answer> : never): Promise<void>
  }

type ChangeMaker = <
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  definition: ChangeDefinition<Params, Query, Body, Answer>,
) => AdminEndpoint

const nothing = z.strictObject({})

/** Defines a read, or an action that changes no rows. */
export const adminEndpoint: Maker<{ actor: Actor }, AdminTerms, AdminEndpoint> = (
  definition: AnyDefinition<{ actor: Actor }> & AdminTerms,
) => entryOf(definition)

/** Defines a change of rows: one transaction with its lines in the audit log and its Idempotency-Key. */
export const adminChange: ChangeMaker = (
  definition: ChangeDefinition<z.ZodObject, z.ZodObject, z.ZodType | undefined, z.ZodType | undefined>,
) => entryOf(definition)

function entryOf(
  definition: Description &
    Partial<Schemas> &
    AdminTerms &
    Pick<AdminEndpoint, 'handle' | 'change' | 'committed' | 'ifMatch'>,
): AdminEndpoint {
  const { method, verb = method === 'GET' ? 'read' : 'write', tenants = 'all' } = definition
  return { ...definition, ...schemasOf(definition, nothing), guard: 'admin', verb, tenants }
}
