import { codeOf, wordsOf } from './finding.ts'

/** Why a server could not be reached, in one word and in a sentence. */
export interface NetworkFailure {
  kind: 'name' | 'refused' | 'silent' | 'tls'
  why: string
  fix?: string
  run: string
}

/** Undefined: the error is not of the network, so the server was reached. `place` is a host, with its port where it has one. */
export function networkFailure(error: unknown, place: string): NetworkFailure | undefined {
  const code = codeOf(error)
  const host = place.replace(/:\d+$/, '')
  if (/^(ENOTFOUND|EAI_AGAIN|EAI_NODATA|EAI_FAIL)$/.test(code))
    return {
      kind: 'name',
      why: `No name server knows the host ${host} (${code}).`,
      run: `getent hosts ${host}`,
    }
  if (code === 'ECONNREFUSED')
    return {
      kind: 'refused',
      why: `The machine answers, and nothing listens at ${place} (ECONNREFUSED).`,
      fix: 'Start the server, or correct host and port of its address. On its machine:',
      run: 'ss -Hltnp',
    }
  if (
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(code) ||
    isLate(error)
  )
    return {
      kind: 'silent',
      why: `Nothing comes back from ${place} (${code || 'no answer in time'}): a firewall, a wrong address, or a server that hangs.`,
      run: `nc -vz ${place.replace(/:(\d+)$/, ' $1')}`,
    }
  if (tlsCodes.test(code) || /\b(ssl|tls|certificate)\b/i.test(wordsOf(error)))
    return {
      kind: 'tls',
      why: `TLS with ${place} fails: ${wordsOf(error)}${code === '' ? '' : ` (${code})`}.`,
      run: `openssl s_client -connect ${place} </dev/null`,
    }
  return undefined
}

function isLate(error: unknown): boolean {
  return error instanceof Error && (error.name === 'LateError' || /timed out|ETIMEDOUT/.test(error.message))
}

const tlsCodes =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/
