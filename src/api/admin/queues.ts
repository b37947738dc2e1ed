import { randomUUIDv7 } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { GatewayError, gatewayError } from '../../canonical/error.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import type { QueuePages, Queues } from '../../jobs/queue/queue.ts'
import { inTime } from '../../runtime/in-time.ts'
import type { AdminToken } from './token.ts'

/** The path of the pages. */
export const queuesPath = '/admin/v1/queues'

/**
 * Serves read-only pages below `path` that show the queues. An operator sends the admin token as a bearer
 * token, or enters it as the password that the browser asks for, with any user name. While the queue's
 * backend is down, the response is a 503 within five seconds.
 */
export function adminQueues(path: string, adminToken: AdminToken, queues: () => Promise<Queues>) {
  let pages: Promise<QueuePages> | undefined
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const given = givenIn(request.headers.authorization)
    try {
      // A browser's first request has no token, which is not a guess.
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
        .json({ error: { message: 'The queue is not responding at the moment. Try again shortly.' } })
      return
    }
    shown(request, response, next)
  }

  /** Checks the queue first, because the pages do not report clearly that they cannot reach it. */
  async function reached(): Promise<QueuePages> {
    const open = await queues()
    await open.images.counts()
    pages ??= open.board(path)
    return await pages
  }
}

/** Opening the queues may take longer and continues in the background. */
const answerMs = 5_000
const retryAfterSeconds = 2

/** Returns the token that the caller sent; empty if there is none. */
function givenIn(authorization: string | undefined): string {
  const [scheme = '', value = ''] = (authorization ?? '').split(/\s+/)
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return ''
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '')
}
