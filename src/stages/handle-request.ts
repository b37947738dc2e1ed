import type { IncomingMessage, ServerResponse } from 'node:http'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import { asGatewayError } from './ending.ts'
import type { PathFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { type Received, receive } from './received.ts'
import { refuse, type Unanswered } from './refuse.ts'

/**
 * A listener for one endpoint, which never rejects. An error that `serve` throws becomes the answer, with its
 * row.
 */
export function handleRequest<G extends Gateway>(
  gateway: G,
  endpoint: PathFormat,
  serve: (gateway: G, received: Received) => Promise<void>,
) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let received: Received | undefined
    try {
      received = receive(gateway, endpoint, request, response)
      await serve(gateway, received)
    } catch (error) {
      if (received !== undefined) {
        await refuseSafely(gateway, received, error)
        return
      }
      gateway.log.error({ cause: redactText(String(error)) }, 'a request could not be begun')
      response.destroy()
    }
  }
}

/** `refuse` that never rejects: if it fails, it logs the error and closes the connection. */
export async function refuseSafely(
  gateway: Gateway,
  received: Received,
  error: unknown,
  unanswered?: Unanswered,
): Promise<void> {
  await refuse(gateway, received, asGatewayError(error), unanswered).catch((cause: unknown) => {
    requestLog(gateway.log, received.id).error(
      { cause: redactText(String(cause)) },
      'a request could not be refused',
    )
    received.response.destroy()
  })
}
