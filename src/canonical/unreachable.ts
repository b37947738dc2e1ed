import type { GatewayError } from './error.ts'

/**
 * Why a server could not be reached: nothing is listening, its name does not resolve, it does not respond, or
 * TLS failed.
 */
export type ReachFailure = 'refused' | 'name' | 'silent' | 'tls'

/** Undefined: not a connection error, so the server was reached. */
export function reachFailureOf(code: string): ReachFailure | undefined {
  if (code === 'ECONNREFUSED') return 'refused'
  if (/^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|EAI_FAIL)$/.test(code)) return 'name'
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(code))
    return 'silent'
  return tlsCodes.test(code) ? 'tls' : undefined
}

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** The code of an error, or of the first error in its chain of causes that has one. */
export function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause)
    if ('code' in at && at.code !== undefined) return String(at.code)
  return ''
}

const words: Readonly<Record<ReachFailure, string>> = {
  refused: 'connection refused',
  name: 'host name not found in DNS',
  silent: 'timeout, no response',
  tls: 'TLS failed',
}

/** An upstream error's message for operators. It ends with the cause if the upstream could not be reached. */
export function messageWithCause({ message, cause }: GatewayError): string {
  const code = codeOf(cause)
  const failure = reachFailureOf(code)
  return failure === undefined ? message : `${message} (cause: ${words[failure]}, ${code})`
}

/** The same message for a tenant, without details of the gateway's network. */
export function messageWithoutCause(message: string): string {
  return message.replace(endsWithCause, '')
}

/** Matches the cause at the end of such a message, in Postgres as well. */
export const causePattern = '\\(cause: ([A-Za-z0-9_ ,]*)\\)$'
const endsWithCause = new RegExp(` ${causePattern}`)
