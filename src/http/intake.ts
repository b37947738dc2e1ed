import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type { GatewayError } from '../canonical/error.ts'
import type { Exchange } from './exchange.ts'

/**
 * The part of the stages that http/ needs: they serve the requests that pass the guard, and write the rows of
 * all others.
 */
export interface Intake {
  serve: RequestListener
  /** Answers a request with an error, without looking up its key, and closes its connection. */
  refuse(exchange: Exchange, refusal: GatewayError): void
  /** Returns the last request that began on this connection; undefined when it is over. */
  newestOn(socket: Duplex): BegunRequest | undefined
  /**
   * Writes the row of a request that could not be read completely: the row of `begun`, or a new one. `status`
   * is an HTTP status for this failure, such as 408; undefined means the status of the error kind. Resolves
   * with the answer for the client.
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
