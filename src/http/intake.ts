import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type { GatewayError } from '../canonical/error.ts'
import type { Exchange } from './exchange.ts'

/**
 * The stages, as http/ sees them: they serve the requests that pass the guard, and write the rows of the
 * others.
 */
export interface Intake {
  serve: RequestListener
  /** Answer a request with an error, without looking its key up, and close its connection. */
  refuse(exchange: Exchange, refusal: GatewayError): void
  /** The last request that began on this connection; undefined when it is over. */
  newestOn(socket: Duplex): BegunRequest | undefined
  /**
   * Write the row of a request that we could not read to its end: the row of `begun`, or a new row. `status`:
   * an HTTP status for this failure, such as 408; undefined: the status of the error kind. Resolves with the
   * answer for the client.
   */
  refuseUnread(
    refusal: GatewayError,
    client: { address: string | null; begun: BegunRequest | undefined },
    status: number | undefined,
  ): Promise<{ status: number; headers: Record<string, string>; body: unknown }>
}

export interface BegunRequest {
  readonly exchange: Exchange
  readonly life: { readonly ended: boolean }
}
