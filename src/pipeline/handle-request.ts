import type { Exchange } from '../http/exchange.ts'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import type { InnerCaller } from './books.ts'
import { end } from './end.ts'
import { asGatewayError, leftEnding } from './ending.ts'
import type { PathFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { ClientLeft } from './life.ts'
import { type Received, receive } from './received.ts'
import { refuse, type Unanswered } from './refuse.ts'

/**
 * Returns a handler for one endpoint, which never rejects. An error that `serve` throws becomes the answer
 * and is recorded in the row.
 */
export function handleRequest<G extends Gateway>(
  gateway: G,
  endpoint: PathFormat,
  serve: (gateway: G, received: Received) => Promise<void>,
) {
  return async (exchange: Exchange, caller?: InnerCaller): Promise<void> => {
    let received: Received | undefined
    try {
      received = receive(gateway, endpoint, exchange, caller)
      await serve(gateway, received)
    } catch (error) {
      if (received !== undefined) {
        await refuseSafely(gateway, received, error)
        return
      }
      gateway.log.error({ cause: redactText(String(error)) }, 'could not begin a request')
      exchange.reply.destroy()
    }
  }
}

/** Like `refuse`, but never rejects: if it fails, it logs the error and closes the connection. */
export async function refuseSafely(
  gateway: Gateway,
  received: Received,
  error: unknown,
  unanswered?: Unanswered,
): Promise<void> {
  const ending =
    error instanceof ClientLeft
      ? end(gateway, received, leftEnding)
      : refuse(gateway, received, asGatewayError(error), unanswered)
  await ending.catch((cause: unknown) => {
    requestLog(gateway.log, received.id).error(
      { cause: redactText(String(cause)) },
      'could not refuse a request',
    )
    received.exchange.reply.destroy()
  })
}
