import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { GatewayError } from '../canonical/error.ts'

/** Where http/ hands requests on, and tells of those that it refuses: each of them has one row. */
export interface Intake {
  serve: RequestListener
  /** Answer a request with an error and close its connection. Its key is not looked up. */
  refuse(request: IncomingMessage, response: ServerResponse, refusal: GatewayError): void
  /** The request that this connection began last, unless that one is over. */
  newestOn(socket: Duplex): BegunRequest | undefined
  /**
   * Write the row of a request that could not be read to its end: of `begun`, else a row of its own. `status`: where HTTP
   * has one of its own. Resolves with what the client is told.
   */
  refuseUnread(
    refusal: GatewayError,
    client: { address: string | null; begun: BegunRequest | undefined },
    status: number | undefined,
  ): Promise<{ status: number; headers: Record<string, string>; body: unknown }>
}

export interface BegunRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly life: { readonly ended: boolean }
}
