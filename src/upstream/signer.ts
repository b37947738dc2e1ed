import { gatewayError } from '../canonical/error.ts'
import type { Target } from '../routing/candidates.ts'
import type { BodyParts } from './paced-body.ts'

/** A request to a channel that is complete except for what proves whose it is. */
export interface UnsignedRequest {
  method: string
  /** As the server sees it, even if a proxy reads the request on its way. */
  url: string
  /** Alternating names and values. Sent with them: `host`, and `content-length` if the body is one buffer. */
  headers: readonly string[]
  /** In pieces if it is large. The bytes are those that are sent, so they must not be changed. */
  body: Buffer | Pick<BodyParts, 'pieces'> | null
  credential: Target['credential']
}

/** Alternating names and values. They replace headers of the same names, whoever set those. */
export type SignedHeaders = readonly string[]

/**
 * Returns the headers that prove to a channel's upstream whose request it is. Called right before the request
 * is sent; for WebSockets, once for each connection. Returns a promise only if it has to wait. If it throws
 * or rejects, nothing is sent, and the credential is treated like one that the upstream has refused.
 */
export type Signer = (request: UnsignedRequest, call: SigningCall) => SignedHeaders | Promise<SignedHeaders>

interface SigningCall {
  /** Aborted when the call ends, such as when its client leaves or its time is over. */
  readonly signal: AbortSignal
}

/** Chooses the signer of a channel's requests. */
export type SignerOf = (target: Pick<Target, 'channel' | 'protocol'>) => Signer

export const noHeaders: SignedHeaders = []

/** Calls the signer. Throws or rejects only with the GatewayError `upstream_request_unsigned`. */
export function sign(signer: Signer, request: UnsignedRequest, call: SigningCall): ReturnType<Signer> {
  try {
    const signed = signer(request, call)
    return signed instanceof Promise ? signed.catch(refuse) : signed
  } catch (cause) {
    return refuse(cause)
  }
}

function refuse(cause: unknown): never {
  throw gatewayError('upstream_request_unsigned', {}, { cause })
}
