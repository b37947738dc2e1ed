import { messagesIn } from './finding.ts'
import { codeOf, type ReachFailure, reachFailureOf } from './unreachable.ts'

/** Why a server could not be reached, as a code and as a sentence. */
export interface NetworkFailure {
  kind: ReachFailure
  why: string
  fix?: string
  run: string
}

/**
 * Returns undefined if the error is not a network error, which means that the server was reached. `place` is
 * a host, with a port if it has one.
 */
export function networkFailure(error: unknown, place: string): NetworkFailure | undefined {
  const code = codeOf(error)
  const kind = reachFailureOf(code)
  const host = place.replace(/:\d+$/, '')
  if (kind === 'name')
    return {
      kind: 'name',
      why: `The host name ${host} cannot be resolved (${code}).`,
      run: `getent hosts ${host}`,
    }
  if (kind === 'refused')
    return {
      kind: 'refused',
      why: `The machine is reachable, but nothing listens at ${place} (ECONNREFUSED).`,
      fix: 'Start the server, or correct the host and port of its address. On its machine, run:',
      run: 'ss -Hltnp',
    }
  if (kind === 'silent' || isLate(error))
    return {
      kind: 'silent',
      why: `No response from ${place} (${code || 'timed out'}). Possible causes: a firewall, a wrong address, or a server that hangs.`,
      run: `nc -vz ${place.replace(/:(\d+)$/, ' $1')}`,
    }
  if (kind === 'tls' || /\b(ssl|tls|certificate)\b/i.test(messagesIn(error)))
    return {
      kind: 'tls',
      why: `TLS with ${place} fails: ${messagesIn(error)}${code === '' ? '' : ` (${code})`}.`,
      run: `openssl s_client -connect ${place} </dev/null`,
    }
  return undefined
}

function isLate(error: unknown): boolean {
  return error instanceof Error && (error.name === 'LateError' || /timed out|ETIMEDOUT/.test(error.message))
}
