import { randomUUIDv7 } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { inTime } from '../in-time.ts'
import type { Pages, Queues } from '../queue/queue.ts'
import { isAdminToken } from './admin-token.ts'

/** Where the pages are. */
export const queuesPath = '/admin/queues'

/**
 * Pages that show the queues, for who has the admin token: as a bearer token, or as the password that a browser asks
 * for, with any name. They change nothing. While the queue's backend is away they are a 503 within five seconds.
 */
export function adminQueues(adminToken: string, queues: () => Promise<Queues>) {
  let pages: Promise<Pages> | undefined
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    if (!isAdmin(request.headers.authorization, adminToken)) {
      response
        .status(401)
        .set('www-authenticate', 'Basic realm="Tollgate", charset="UTF-8"')
        .set('x-request-id', randomUUIDv7())
        .json({
          error: { message: 'This page is for who has ADMIN_TOKEN: send it as bearer token or password.' },
        })
      return
    }
    let shown: Pages
    try {
      shown = await inTime(reached(), answerMs, 'the queue')
    } catch {
      response
        .status(503)
        .set('retry-after', String(retryAfterSeconds))
        .set('x-request-id', randomUUIDv7())
        .json({ error: { message: 'The queue does not answer just now. Try again shortly.' } })
      return
    }
    shown(request, response, next)
  }

  /** The pages themselves say nothing of use when they cannot reach the queue. */
  async function reached(): Promise<Pages> {
    const open = await queues()
    await open.images.counts()
    pages ??= open.board(queuesPath)
    return await pages
  }
}

/** Opening the queues waits longer, in the background. */
const answerMs = 5_000
const retryAfterSeconds = 2

function isAdmin(authorization: string | undefined, adminToken: string): boolean {
  const [scheme = '', value = ''] = (authorization ?? '').split(/\s+/)
  const given =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(value, 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
      : scheme.toLowerCase() === 'bearer'
        ? value
        : ''
  return isAdminToken(given, adminToken)
}
