import { codeOf, type ReachFailure, reachFailureOf } from '../canonical/unreachable.ts'
import { messagesIn } from './finding.ts'

/** Why a server could not be reached, in one word and in a sentence. */
export interface NetworkFailure {
  kind: ReachFailure
  why: string
  fix?: string
  run: string
}

/**
 * Undefined: the error is not of the network, so the server was reached. `place` is a host, with its port
 * where it has one.
 */
export function networkFailure(error: unknown, place: string): NetworkFailure | undefined {
  const code = codeOf(error)
  const kind = reachFailureOf(code)
  const host = place.replace(/:\d+$/, '')
  if (kind === 'name')
    return {
      kind: 'name',
      why: `No name server knows the host ${host} (${code}).`,
      run: `getent hosts ${host}`,
    }
  if (kind === 'refused')
    return {
      kind: 'refused',
      why: `The machine answers, and nothing listens at ${place} (ECONNREFUSED).`,
      fix: 'Start the server, or correct host and port of its address. On its machine:',
      run: 'ss -Hltnp',
    }
  if (kind === 'silent' || isLate(error))
    return {
      kind: 'silent',
      why: `Nothing comes back from ${place} (${code || 'no answer in time'}): a firewall, a wrong address, or a server that hangs.`,
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
