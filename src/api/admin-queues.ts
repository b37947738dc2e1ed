import { createHash, randomUUIDv7, timingSafeEqual } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import type { Pages, Queues } from '../queue/queue.ts'

/** Where the pages are. */
export const queuesPath = '/admin/queues'

/**
 * Pages that show the queues, for who has the admin token: as a bearer token, or as the password that a browser asks
 * for, with any name. They change nothing.
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
    pages ??= queues()
      .then((open) => open.board(queuesPath))
      .catch((error: unknown) => {
        // The queue's backend may be away just now.
        pages = undefined
        throw error
      })
    ;(await pages)(request, response, next)
  }
}

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
  // Digests have one length, so that the comparison tells nothing of the token's.
  return timingSafeEqual(digest(given), digest(adminToken))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
