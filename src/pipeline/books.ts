import type { Identity } from '../access/identity.ts'
import type { BackgroundAdditions } from '../protocols/protocol.ts'
import type { Gateway } from './gateway.ts'

/**
 * Everything that a request is planned with and accounted in: the catalog, limits, money, the row, and the
 * upstreams. A client's request uses the gateway's own; a job, a probe and the playground replace some of
 * them.
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

/** A part of this process that makes requests itself: a job, a probe or the playground. */
export interface InnerCaller {
  /** The caller, since no header of the request identifies it. */
  identity: Identity
  books: Books
  /** Is told the redacted cause of an error, which only operators may read: the upstream's own words. */
  onCause?(words: string): void
  /** Present when a job generates a background answer. */
  job?: JobOf
}

/** The facts that a request takes from the job that generates its answer. */
export interface JobOf {
  /** The job's id, which is also the request's id because the job writes its row. */
  id: string
  /** The trace context of the client that requested the job. */
  traceparent: string | undefined
  added: BackgroundAdditions
}

/** Returns the gateway's books with some of them replaced by the caller's own. */
export function booksWith(gateway: Gateway, own: Partial<Books>): Books {
  const { catalog, keyRequests, ledger, limits, onLimits } = gateway
  const { publicUrl, requests, reservations, upstreams } = gateway
  return {
    ...{ catalog, keyRequests, ledger, limits, onLimits, publicUrl, requests, reservations, upstreams },
    ...own,
  }
}
