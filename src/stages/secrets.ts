import { GatewayError } from '../canonical/error.ts'
import { redactText } from '../redaction/redact.ts'
import type { Call } from './call.ts'

/** An error as it may be shown, to the client, on the row and in the log: upstreams quote credentials in theirs. */
export function shown(call: Call, error: GatewayError): GatewayError {
  const secrets = secretsOf(call)
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

/** What no text of this call may show. */
export function secretsOf({ credentials, token }: Call): string[] {
  return token === null ? [...credentials] : [...credentials, token]
}
