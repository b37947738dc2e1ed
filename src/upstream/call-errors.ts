import { GatewayError } from '../canonical/error.ts'

/** The errors of calls whose answer did not come, or not whole. */

export function tookTooLong(totalMs: number): GatewayError {
  return new GatewayError('upstream_timeout', `The upstream took longer than ${totalMs} ms in all.`)
}

export function tooSlow(cause?: unknown): GatewayError {
  return new GatewayError('upstream_timeout', 'The upstream did not begin to answer in time.', { cause })
}

export function stoppedHalfway(cause?: unknown): GatewayError {
  return new GatewayError('upstream_timeout', 'The upstream stopped in the middle of its answer.', { cause })
}

export function notWanted(): GatewayError {
  return new GatewayError('upstream_error', 'The client went away before anything was sent.', {
    fault: 'client',
  })
}

/** The error of a failed connection, for the client. The cause may name hosts and goes only to our log. */
export function explain(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = codeOf(cause)
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream could not be reached in time.', { cause })
    case 'UND_ERR_HEADERS_TIMEOUT':
      return tooSlow(cause)
    case 'UND_ERR_BODY_TIMEOUT':
      return stoppedHalfway(cause)
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return new GatewayError('upstream_error', 'The upstream could not be reached.', { cause })
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new GatewayError('upstream_error', "The headers of the upstream's answer are too large.", {
        cause,
      })
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return new GatewayError('upstream_error', "The upstream's answer is not as long as it declared.", {
        cause,
      })
    case 'HTTPParserError':
      return new GatewayError('upstream_error', 'The upstream answered with what is no HTTP/1.1.', { cause })
  }
  return broken(cause)
}

/** The code of an error, or its name when it has no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name
}

export function broken(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'The connection to the upstream broke.', { cause })
}
