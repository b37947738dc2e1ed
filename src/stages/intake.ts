import type { RequestListener } from 'node:http'
import type { GatewayError } from '../canonical/error.ts'
import type { Intake } from '../http/intake.ts'
import { redactText } from '../redaction/redact.ts'
import { end } from './end.ts'
import { refusedEnding } from './ending.ts'
import { formatAt } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { refuseSafely } from './handle-request.ts'
import { arrive, newestOn, receive } from './received.ts'

const pathCharactersMax = 128

/** The intake that http/ needs: a request that http/ refuses, or cannot read, has its one row too. */
export function intakeOf(gateway: Gateway, serve: RequestListener): Intake {
  return {
    serve,
    refuse(request, response, refusal) {
      const path = redactText((request.url ?? '').replace(/[?#].*$/s, ''), [], pathCharactersMax)
      const received = receive(
        gateway,
        { ...formatAt(path, request.headers), isUnrouted: true },
        request,
        response,
      )
      received.headers.connection = 'close'
      void refuseSafely(gateway, received, refusal)
    },
    newestOn,
    async refuseUnread(refusal: GatewayError, { address, begun }, ownStatus) {
      const known = begun === undefined ? undefined : newestOn(begun.request.socket)
      const arrival = known ?? arrive(gateway.clock.now(), unreadable, address)
      const rendered = arrival.endpoint.client.encodeError(refusal, arrival.id)
      const status = ownStatus ?? rendered.status
      await end(gateway, arrival, refusedEnding(refusal, status))
      return { ...rendered, status }
    },
  }
}

/** We know neither path nor format. The answer is in OpenAI's format. */
const unreadable = { ...formatAt(''), path: '(unreadable)', protocol: null }
