import { GatewayError, gatewayError } from '../canonical/error.ts'

/**
 * Returns the client's error for a failed connection. The cause may contain host names and is only logged.
 */
export function explain(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = codeOf(cause)
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return gatewayError('upstream_connect_timed_out', {}, { cause })
    case 'UND_ERR_HEADERS_TIMEOUT':
      return gatewayError('upstream_answer_late', {}, { cause })
    case 'UND_ERR_BODY_TIMEOUT':
      return gatewayError('upstream_stalled', {}, { cause })
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return gatewayError('upstream_unreachable', {}, { cause })
    case 'UND_ERR_HEADERS_OVERFLOW':
      return brokenHttp('responded with headers that are too large', cause)
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return brokenHttp('sent a response whose length differs from the declared length', cause)
    case 'HTTPParserError':
      return brokenHttp('did not respond with HTTP/1.1', cause)
  }
  return broken(cause)
}

function brokenHttp(how: string, cause: unknown): GatewayError {
  return gatewayError('upstream_http_invalid', { how }, { cause })
}

/** Returns the code of an error, or its name if it has no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name
}

export function broken(cause: unknown): GatewayError {
  return gatewayError('upstream_connection_broke', {}, { cause })
}
