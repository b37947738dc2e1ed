import { randomUUIDv7 } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { GatewayError, gatewayError } from '../../canonical/error.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import type { QueuePages, Queues } from '../../queue/queue.ts'
import { inTime } from '../../runtime/in-time.ts'
import type { AdminToken } from './token.ts'

/** The path of the pages. */
export const queuesPath = '/admin/v1/queues'

/**
 * Pages below `path` that show the queues and change nothing. An operator sends the admin token as bearer
 * token, or types it as the password that the browser asks for, with any name. While the queue's backend is
 * away the answer is a 503 within five seconds.
 */
export function adminQueues(path: string, adminToken: AdminToken, queues: () => Promise<Queues>) {
  let pages: Promise<QueuePages> | undefined
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const given = givenIn(request.headers.authorization)
    try {
      // A browser first asks without one, which is not a guess.
      if (given === '' || !adminToken.accepts(given, clientAddressOf(request)))
        throw gatewayError('admin_token_needed')
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause
      const { reason, message, retryAfterSeconds } = cause
      if (retryAfterSeconds === undefined)
        response.status(401).set('www-authenticate', 'Basic realm="Tollgate", charset="UTF-8"')
      else response.status(429).set('retry-after', String(retryAfterSeconds))
      response
        .set({ 'x-request-id': randomUUIDv7(), 'x-tollgate-reason': reason })
        .json({ error: { message } })
      return
    }
    let shown: QueuePages
    try {
      shown = await inTime(reached(), answerMs, 'the queue')
    } catch {
      response
        .status(503)
        .set('retry-after', String(retryAfterSeconds))
        .set('x-request-id', randomUUIDv7())
        .json({ error: { message: 'The queue does not answer at the moment. Try again shortly.' } })
      return
    }
    shown(request, response, next)
  }

  /** Ask the queue first: the pages do not say clearly that they cannot reach it. */
  async function reached(): Promise<QueuePages> {
    const open = await queues()
    await open.images.counts()
    pages ??= open.board(path)
    return await pages
  }
}

/** Opening the queues may take longer, and goes on in the background. */
const answerMs = 5_000
const retryAfterSeconds = 2

/** The token that a caller sent; empty: none. */
function givenIn(authorization: string | undefined): string {
  const [scheme = '', value = ''] = (authorization ?? '').split(/\s+/)
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return ''
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '')
}
