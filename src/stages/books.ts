import type { Identity } from '../access/identity.ts'
import type { BackgroundAdditions } from '../protocols/protocol.ts'
import type { Gateway } from './gateway.ts'

/**
 * What a request is planned with and accounted in: the catalog, limits, money, the row, and the upstreams.
 * Those of a client's request are the gateway's own. A job, a probe and the playground have some of their
 * own.
 */
export type Books = Pick<
  Gateway,
  | 'catalog'
  | 'keyRequests'
  | 'ledger'
  | 'limits'
  | 'onLimits'
  | 'publicUrl'
  | 'requests'
  | 'reservations'
  | 'upstreams'
>

/** A part of this process that makes a request: a job, a probe or the playground. */
export interface InnerCaller {
  /** No header of the request names it. */
  identity: Identity
  books: Books
  /** Present where a job makes an answer in the background. */
  job?: JobOf
}

/** What a request has of the job that makes its answer. */
export interface JobOf {
  /** Also the request's id, since the job writes its row. */
  id: string
  /** The place in the trace of the client that asked for the job. */
  traceparent: string | undefined
  added: BackgroundAdditions
}

/** The books of the gateway with some of a caller's own. */
export function booksWith(gateway: Gateway, own: Partial<Books>): Books {
  const { catalog, keyRequests, ledger, limits, onLimits } = gateway
  const { publicUrl, requests, reservations, upstreams } = gateway
  return {
    ...{ catalog, keyRequests, ledger, limits, onLimits, publicUrl, requests, reservations, upstreams },
    ...own,
  }
}
