import { randomUUIDv7 } from 'node:crypto'
import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import { readBody } from '../http/body.ts'
import { redactText } from '../redaction/redact.ts'
import { asGatewayError } from '../stages/ending.ts'
import { formatAt } from '../stages/endpoints.ts'
import { withoutSecrets } from '../stages/redact-error.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import { bearsAdminToken } from './admin-token.ts'
import { textsOf } from './answer.ts'
import type { AdminEndpoint } from './own-endpoint.ts'
import { notWhole, parseJson } from './read-json.ts'

export interface AdminContext {
  adminToken: string
  log: Log
}

const bodyBytesMax = 64 * 1024

/**
 * A route for operators, who send the admin token as bearer token. Errors have the shape of OpenAI's. There is no row in
 * the usage log: the ledger's entries are their own record, and the log of the process has a line.
 */
export function answerAdmin({ adminToken, log }: AdminContext, endpoint: AdminEndpoint) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = randomUUIDv7()
    response.setHeader('x-request-id', requestId)
    response.setHeader('cache-control', 'no-store')
    try {
      if (!bearsAdminToken(request.headers.authorization, adminToken)) throw notAdmin()
      const { query } = request
      const params = textsOf(request.params)
      const body = endpoint.body === undefined ? undefined : await readAdminJson(request)
      const answered = await endpoint.handle({ stage: request, params, query, body })
      if (answered !== undefined) response.status(answered.status ?? 200).json(answered.body)
    } catch (cause) {
      const error = asGatewayError(cause)
      if (error.fault !== 'client')
        requestLog(log, requestId)[error.kind === 'internal' ? 'error' : 'warn'](
          { cause: redactText(String(error.cause)) },
          error.message,
        )
      const { status, headers, body } = formatAt('/admin').client.encodeError(
        withoutSecrets(error, []),
        requestId,
      )
      response.status(status).set(headers).json(body)
    }
  }
}

async function readAdminJson(request: Request): Promise<Json> {
  const body = await readBody(request, bodyBytesMax)
  if (body === undefined) throw notWhole()
  try {
    return parseJson(body.bytes)
  } finally {
    body.release()
  }
}

function notAdmin(): GatewayError {
  return new GatewayError(
    'unauthenticated',
    'This path needs ADMIN_TOKEN: send it as "authorization: Bearer TOKEN".',
  )
}
