import type { GatewayError } from '../canonical/error.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Intake } from '../http/intake.ts'
import { end } from './end.ts'
import { refusedEnding } from './ending.ts'
import { formatAt, unroutedFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { refuseSafely } from './handle-request.ts'
import { arrive, newestOn, receive } from './received.ts'

/** The intake for http/. A request that http/ refuses or cannot read has exactly one row too. */
export function intakeOf(gateway: Gateway, serve: Intake['serve']): Intake {
  return {
    serve,
    refuse(exchange: Exchange, refusal) {
      const received = receive(gateway, unroutedFormat(exchange.path, exchange.headers), exchange)
      received.headers.connection = 'close'
      void refuseSafely(gateway, received, refusal)
    },
    newestOn,
    async refuseUnread(refusal: GatewayError, { address, begun }, ownStatus) {
      const connection = begun?.exchange.connection
      const known = connection === undefined ? undefined : newestOn(connection)
      const arrival = known ?? arrive(gateway, gateway.clock.now(), unreadable, address)
      const rendered = arrival.endpoint.client.encodeError(refusal, arrival.id)
      const status = ownStatus ?? rendered.status
      await end(gateway, arrival, refusedEnding(refusal, status))
      return { ...rendered, status }
    },
  }
}

/** Neither the path nor the format is known. The answer is in OpenAI's format. */
const unreadable = { ...formatAt(''), path: '(unreadable)', protocol: null }
