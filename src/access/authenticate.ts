import type { IncomingHttpHeaders } from 'node:http'
import { isWithin } from '../canonical/address-blocks.ts'
import { gatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { Identity } from './identity.ts'
import { keyHint, looksMistyped } from './key-secret.ts'
import type { Keys } from './keys.ts'

/**
 * Identifies the caller. Returns without a promise if the key is in memory. Throws or rejects with a
 * GatewayError: `unauthenticated`, `permission_denied` or `unavailable`. Messages contain no more of the key
 * than its hint.
 */
export function authenticate(
  keys: Pick<Keys, 'lookup'>,
  snapshot: Snapshot,
  headers: IncomingHttpHeaders,
  clientAddress: string | undefined,
  nowMs: number,
): Identity | Promise<Identity> {
  const token = tokenFrom(headers)
  if (token === undefined) {
    throw gatewayError('key_missing', { instead: elsewhere(headers) })
  }
  const identity = keys.lookup(token)
  if (identity instanceof Promise) {
    return identity.then((found) =>
      permitCaller(known(found, token), () => hintOf(token), snapshot, clientAddress, nowMs),
    )
  }
  return permitCaller(known(identity, token), () => hintOf(token), snapshot, clientAddress, nowMs)
}

function known(identity: Identity | undefined, token: string): Identity {
  if (identity !== undefined) return identity
  throw gatewayError(looksMistyped(token) ? 'key_mistyped' : 'key_unknown', { hint: hintOf(token) })
}

/**
 * The credential that a client sent: a bearer token, otherwise `x-api-key`. Claude Code sends both, with
 * different values, if both of its variables are set; the bearer token then takes precedence.
 */
export function tokenFrom(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim()
  if (bearer !== undefined) return bearer
  return headerText(headers['x-api-key'])?.trim() || undefined
}

/**
 * Whether a known caller may make a request now. `hintOf`: what its errors call the key. Throws GatewayError
 * `unauthenticated`, `permission_denied` or `unavailable`.
 */
export function permitCaller(
  identity: Identity,
  hintOf: () => string,
  snapshot: Snapshot,
  clientAddress: string | undefined,
  nowMs: number,
): Identity {
  if (identity.blocked) throw gatewayError('key_blocked', { hint: hintOf() })
  if (identity.disabled) throw gatewayError('key_disabled', { hint: hintOf() })
  if (identity.expiresAt !== undefined && identity.expiresAt <= nowMs)
    throw gatewayError('key_expired', { hint: hintOf(), at: new Date(identity.expiresAt).toISOString() })
  const tenant = snapshot.tenants.get(identity.tenantId)
  if (tenant === undefined) {
    // The tenant was only just created; the snapshot will contain it within a second.
    throw gatewayError('tenant_not_loaded', { hint: hintOf() }, { retryAfterSeconds: 1 })
  }
  if (tenant.disabled) throw gatewayError('tenant_disabled', { hint: hintOf() })
  if (
    isOutside(identity.allowedCidrs, clientAddress) ||
    isOutside(identity.parent?.allowedCidrs, clientAddress)
  )
    throw gatewayError('key_address_refused', {
      hint: hintOf(),
      address: clientAddress ?? 'an unknown address',
    })
  return identity
}

function isOutside(cidrs: Identity['allowedCidrs'], clientAddress: string | undefined): boolean {
  return cidrs !== undefined && !isWithin(clientAddress ?? '', cidrs)
}

/** In ASCII, because some clients print the raw bytes of a response. */
function hintOf(token: string): string {
  return keyHint(token).replace('\u2026', '...')
}

/**
 * Names another header in which the client may have sent its key. We do not read more headers, because every
 * header that carries a key must be hidden from logs and rows and can only be accepted once.
 */
function elsewhere(headers: IncomingHttpHeaders): string {
  const found = ['api-key', 'x-goog-api-key'].find((name) => headers[name] !== undefined)
  return found === undefined ? '' : `: the header ${found} is not read`
}
