import { randomUUIDv7 } from 'node:crypto'
import type { Request, Response } from 'express'
import { type Actor, anybody } from '../../access/actor.ts'
import { writeAudit } from '../../access/audit-queries.ts'
import type { AnswerCipher } from '../../access/idempotency-keys.ts'
import type { FollowedRevisions } from '../../access/revision.ts'
import { gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { parseKeepingDigits } from '../../canonical/json-digits.ts'
import type { Database } from '../../db/database.ts'
import { readBody } from '../../http/body.ts'
import type { BodyMemory, BodyShare } from '../../http/body-memory.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import { asGatewayError } from '../../pipeline/ending.ts'
import { withoutSecrets } from '../../pipeline/redact-error.ts'
import { redactText } from '../../redaction/redact.ts'
import { type Log, requestLog } from '../../telemetry/log.ts'
import type { ApiAnswer, CheckedInput, Steps } from '../endpoint.ts'
import { parseJson } from '../read-json.ts'
import type { AdminCall, AdminEndpoint } from './endpoint.ts'
import { hasEtag } from './etag.ts'
import { claimCall, keyedCall, storeCallAnswer } from './idempotency-queries.ts'
import { isStorable } from './list.ts'
import { permit } from './permit.ts'
import { problemOf } from './problem.ts'
import { notFound } from './refusals.ts'
import { watchCaller } from './watch-caller.ts'

export interface AdminContext {
  /**
   * Resolves to the caller. Rejects with `unauthenticated`, or with `rate_limited` for a caller that guesses.
   */
  authenticate(request: Request): Promise<Actor>
  database: Pick<Database, 'admin'>
  revisions: Pick<FollowedRevisions, 'applied'>
  /** Encrypts responses that are stored for an Idempotency-Key. */
  answers: AnswerCipher
  bodies: Pick<BodyMemory, 'begin'>
  log: Log
}

const bodyBytesMax = 1024 * 1024
/** Areas whose changes touch neither keys nor catalog. */
const withoutRevision: ReadonlySet<AdminEndpoint['area']> = new Set([
  'open',
  'self',
  'users',
  'views',
  'alerts',
])
const userAgentCharactersMax = 512

/**
 * Errors of the admin API are in the problem details format. Calls have no row in the usage log: the audit
 * log records changes, and the log of the process contains failures.
 */
export function adminSteps(
  context: AdminContext,
  endpoint: AdminEndpoint,
  { request, response, left }: { request: Request; response: Response; left: AbortSignal },
): Steps {
  const requestId = randomUUIDv7()
  let signal = left
  let actor = anybody
  let watch: ReturnType<typeof watchCaller> | undefined
  let share: BodyShare | undefined
  let bytes: Buffer = Buffer.alloc(0)
  return {
    requestId,
    async admit() {
      if (endpoint.area !== 'open') actor = await context.authenticate(request)
      permit(actor, endpoint)
      // Downloads and event streams can last for hours.
      if (endpoint.media === undefined) return
      watch = watchCaller(actor, () => context.authenticate(request))
      signal = AbortSignal.any([left, watch.signal])
    },
    async read({ params, query }) {
      // Callers who are signing in have no key yet, so their bodies are counted by address.
      share = context.bodies.begin(`address ${clientAddressOf(request) ?? 'unknown'}`)
      if (endpoint.method !== 'GET') bytes = await bytesOf(request, share)
      const body = bodyOf(endpoint, bytes)
      // No resource can have such a name.
      if (!Object.values(params).every(isStorable)) throw notFound('resource with this name')
      requireStorable(query, body)
      return { params, query, body }
    },
    async handle(input) {
      const call = { actor, request, response, requestId, signal }
      if (endpoint.change === undefined) return await endpoint.handle?.({ ...call, ...input })
      return await changeOnce(context, endpoint, call, input, bytes)
    },
    async finish(answer) {
      if (answer !== undefined && !response.destroyed) send(request, response, answer)
    },
    async refuse(cause) {
      refuse(context.log, { cause, requestId, response, hasLeft: signal.aborted })
    },
    release() {
      share?.release()
      watch?.stop()
    },
  }
}

/**
 * Parses the body with ordinary numbers, which schemas check and rows store. In a request that is passed on,
 * numbers keep their digits instead. Throws `invalid_request`.
 */
export function bodyOf({ body, keepsDigits }: AdminEndpoint, bytes: Buffer): unknown {
  if (body === undefined) return undefined
  return parseJson(bytes, keepsDigits === true ? parseKeepingDigits : JSON.parse)
}

/** Postgres cannot store NUL or lone surrogates. Throws `invalid_request` that names the affected member. */
function requireStorable(query: unknown, body: unknown): void {
  const left: { value: unknown; field: string }[] = [
    { value: query, field: 'query' },
    { value: body, field: 'body' },
  ]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const { value, field } = one
    if (typeof value === 'string' && !isStorable(value))
      throw invalid(field, 'expected text without NUL and lone surrogates')
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      left.push({ value: name, field })
      left.push({ value: member, field: field === 'query' || field === 'body' ? name : field })
    }
  }
}

/** Runs one transaction with the change, its lines in the audit log and the response for repeated calls. */
async function changeOnce(
  { database, revisions, answers }: AdminContext,
  endpoint: AdminEndpoint,
  call: AdminCall,
  checked: CheckedInput,
  bytes: Buffer,
): Promise<ApiAnswer> {
  const { actor, request, requestId } = call
  const { knowsRepeats = false, mayChangeNothing = knowsRepeats, withinMs } = endpoint
  const terms = withinMs === undefined ? {} : { withinMs }
  const keyed = keyedCall(knowsRepeats ? undefined : request.headers['idempotency-key'], {
    actor,
    requestId,
    sent: [endpoint.method, request.originalUrl, bytes],
  })
  const source = {
    actor,
    address: clientAddressOf(request),
    userAgent: request.headers['user-agent']?.slice(0, userAgentCharactersMax) ?? null,
    requestId,
  }
  const { answer, isRepeat } = await database.admin.transact(async (tx) => {
    const repeated = keyed === undefined ? undefined : await claimCall(tx, keyed, answers)
    if (repeated !== undefined) return { answer: repeated, isRepeat: true }
    let lines = 0
    let hasCompared = false
    const answer = await endpoint.change?.({
      ...checked,
      actor,
      request,
      requestId,
      tx,
      requireMatch: (etag) => {
        hasCompared = true
        const wanted = request.headers['if-match']
        if (wanted !== undefined && !hasEtag(wanted, etag)) throw gatewayError('precondition_failed')
      },
      audit: async (entry) => {
        lines++
        await writeAudit(tx, source, entry)
      },
    })
    if (answer === undefined || (lines === 0 && !mayChangeNothing))
      throw new Error(`${endpoint.method} ${endpoint.path} has changed rows without writing to the audit log`)
    if (hasCompared !== (endpoint.ifMatch !== undefined))
      throw new Error(`${endpoint.method} ${endpoint.path} does not handle if-match as declared`)
    if (keyed !== undefined) await storeCallAnswer(tx, keyed, answer, answers)
    return { answer, isRepeat: false }
  }, terms)
  if (!isRepeat) await endpoint.committed?.(answer.body)
  // A key that was created with this call can be used as soon as its secret is known.
  if (!withoutRevision.has(endpoint.area)) await revisions.applied()
  return answer
}

async function bytesOf(request: Request, share: BodyShare): Promise<Buffer> {
  const body = await readBody(request, bodyBytesMax, share)
  if (body === undefined) throw gatewayError('request_cut')
  const bytes = Buffer.from(body.bytes)
  body.release()
  return bytes
}

function send(
  request: Request,
  response: Response,
  { status = 200, body, headers = {}, etag }: ApiAnswer,
): void {
  if (etag !== undefined) response.setHeader('etag', etag)
  response.set(headers)
  const known = request.headers['if-none-match']
  if (request.method === 'GET' && etag !== undefined && known !== undefined && hasEtag(known, etag)) {
    response.status(304).end()
    return
  }
  if (body instanceof Uint8Array) response.status(status).end(body)
  else response.status(status).json(body)
}

function refuse(
  log: Log,
  {
    cause,
    requestId,
    response,
    hasLeft,
  }: { cause: unknown; requestId: string; response: Response; hasLeft: boolean },
): void {
  const error = asGatewayError(cause)
  if (error.fault !== 'client' && !hasLeft)
    requestLog(log, requestId)[error.kind === 'internal' ? 'error' : 'warn'](
      { cause: redactText(String(error.cause)) },
      error.message,
    )
  if (response.destroyed) return
  // The response has begun, so closing the connection is the only way to signal that it is incomplete.
  if (response.headersSent) {
    response.destroy()
    return
  }
  const { status, headers, body } = problemOf(withoutSecrets(error, []), requestId)
  response.status(status).set(headers).end(JSON.stringify(body))
}
