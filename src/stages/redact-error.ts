import { GatewayError } from '../canonical/error.ts'
import { redactText } from '../redaction/redact.ts'
import type { Arrival } from './received.ts'

/**
 * An error as the client, the row and the log may have it: upstreams quote credentials in theirs.
 * The same error when nothing had to be taken out.
 */
export function redactError(arrival: Pick<Arrival, 'row' | 'token'>, error: GatewayError): GatewayError {
  return withoutSecrets(error, secretsOf(arrival))
}

/** The same for texts of an error that no request stands behind. */
export function withoutSecrets(error: GatewayError, secrets: readonly string[]): GatewayError {
  const message = redactText(error.message, secrets)
  if (message === error.message && error.code === undefined) return error
  const { cause, code, field, retryAfterSeconds, fault, upstreamStatus } = error
  return new GatewayError(error.kind, message, {
    cause,
    fault,
    ...(code === undefined ? {} : { code: redactText(code, secrets) }),
    ...(field === undefined ? {} : { field }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
  })
}

/** Secrets that no text of this request may show: its own key, and the credentials of the channels that were asked. */
export function secretsOf({ row, token }: Pick<Arrival, 'row' | 'token'>): string[] {
  return token === undefined ? row.credentials : [...row.credentials, token]
}
