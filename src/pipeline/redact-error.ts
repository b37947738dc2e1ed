import type { GatewayError } from '../canonical/error.ts'
import { redactText } from '../redaction/redact.ts'
import { secretsOf } from '../routing/credentials.ts'
import type { Arrival } from './received.ts'

/**
 * Removes secrets from an error for the client, the row and the log, because upstreams quote credentials in
 * their errors. Returns the same error if it contains none.
 */
export function redactError(arrival: Pick<Arrival, 'row' | 'token'>, error: GatewayError): GatewayError {
  return withoutSecrets(error, knownSecrets(arrival))
}

/** The same for an error of an image job, which outlives its request. */
export function withoutSecrets(error: GatewayError, secrets: readonly string[]): GatewayError {
  const message = redactText(error.message, secrets)
  if (message === error.message && error.code === undefined) return error
  const { code, field } = error
  return error.with({
    message,
    code: code && redactText(code, secrets),
    field: field && redactText(field, secrets),
  })
}

/**
 * Returns the secrets that no text of this request may show now: its own key, and those of the channels that
 * were called. A token obtained since is one more.
 */
export function knownSecrets({ row, token }: Pick<Arrival, 'row' | 'token'>): string[] {
  const secrets = row.called.flatMap(secretsOf)
  if (token !== undefined) secrets.push(token)
  return secrets
}
