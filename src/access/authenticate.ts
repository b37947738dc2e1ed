import type { IncomingHttpHeaders } from 'node:http'
import { isWithin } from '../address-blocks.ts'
import { GatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { Identity } from './identity.ts'
import { keyHint, looksMistyped } from './key-secret.ts'
import type { Keys } from './keys.ts'

/**
 * Find out who calls. Answers without a promise when the key is in memory.
 * Throws, or rejects with, GatewayError `unauthenticated`, `permission_denied` or `unavailable`. No message holds
 * more of the key than its hint.
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
    throw unauthenticated(
      `No API key was sent${elsewhere(headers)}. Send it as "authorization: Bearer KEY" or as "x-api-key: KEY".`,
    )
  }
  const identity = keys.lookup(token)
  if (identity instanceof Promise) {
    return identity.then((found) => permit(found, token, snapshot, clientAddress, nowMs))
  }
  return permit(identity, token, snapshot, clientAddress, nowMs)
}

/**
 * The credential that a client sent: a bearer token, else `x-api-key`. Claude Code sends both, with different values,
 * when both of its variables are set: then the bearer token counts.
 */
export function tokenFrom(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1]?.trim()
  if (bearer !== undefined) return bearer
  return headerText(headers['x-api-key'])?.trim() || undefined
}

function permit(
  identity: Identity | undefined,
  token: string,
  snapshot: Snapshot,
  clientAddress: string | undefined,
  nowMs: number,
): Identity {
  if (identity === undefined) {
    throw unauthenticated(
      looksMistyped(token)
        ? `The API key ${hintOf(token)} is mistyped or cut: its checksum is wrong. Copy it again.`
        : `The API key ${hintOf(token)} is not known here. Use a key of this gateway, not one of a provider.`,
    )
  }
  if (identity.disabled) throw unauthenticated(`The API key ${hintOf(token)} is disabled. Use another.`)
  if (identity.expiresAt !== undefined && identity.expiresAt <= nowMs) {
    const moment = new Date(identity.expiresAt).toISOString()
    throw unauthenticated(`The API key ${hintOf(token)} expired at ${moment}. Use another.`)
  }
  const tenant = snapshot.tenants.get(identity.tenantId)
  if (tenant === undefined) {
    // The tenant was made a moment ago: the snapshot has it within a second.
    throw new GatewayError(
      'unavailable',
      `The tenant of the API key ${hintOf(token)} is not loaded yet. Try again.`,
      {
        retryAfterSeconds: 1,
      },
    )
  }
  if (tenant.disabled) {
    throw new GatewayError('permission_denied', `The tenant of the API key ${hintOf(token)} is disabled.`)
  }
  const blocks = [identity.allowedCidrs, identity.parent?.allowedCidrs]
  if (blocks.some((cidrs) => cidrs !== undefined && !isWithin(clientAddress ?? '', cidrs))) {
    const place = clientAddress ?? 'an unknown address'
    throw new GatewayError('permission_denied', `The API key ${hintOf(token)} may not be used from ${place}.`)
  }
  return identity
}

/** In ASCII: some clients print the bytes of an answer. */
function hintOf(token: string): string {
  return keyHint(token).replace('\u2026', '...')
}

/**
 * A header in which a client may have sent its key in vain. Each place that is read must be hidden from logs and rows, and come only
 * once: two are enough.
 */
function elsewhere(headers: IncomingHttpHeaders): string {
  const found = ['api-key', 'x-goog-api-key'].find((name) => headers[name] !== undefined)
  return found === undefined ? '' : `: the header ${found} is not read`
}

const unauthenticated = (message: string) => new GatewayError('unauthenticated', message)
