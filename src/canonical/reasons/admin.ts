import { reasonsOf } from './entry.ts'

interface Words {
  message: string
}

const conflict = { kind: 'invalid_request', code: 'conflict', says: ({ message }: Words) => message } as const
const notAllowed = { kind: 'permission_denied', says: ({ message }: Words) => message } as const

/**
 * Refusals that occur only in the admin API and at sign-in. The `code`, if an entry has one, determines the
 * status.
 */
export const adminReasons = reasonsOf({
  conflict: { ...conflict, client: 'do what the message says first' },
  name_taken: { ...conflict, client: 'use another name, or rename the resource that uses this one' },
  in_use: { ...conflict, client: 'first remove it from the resources that the message names' },
  managed_elsewhere: { ...conflict, client: 'change it in gateway.yaml, on the line that the message names' },
  last_owner: { ...conflict, client: 'make another user an owner first' },
  precondition_failed: {
    kind: 'invalid_request',
    code: 'precondition_failed',
    says: 'The resource has changed since it was read. Read it again, and send its new ETag in the if-match header.',
    client: 'read it again, and send the new ETag',
  },
  not_found: {
    kind: 'unknown_path',
    says: ({ what }: { what: string }) => `There is no ${what}.`,
    client: 'use an id from one of the lists of the admin API',
  },
  not_allowed: { ...notAllowed, client: 'ask an owner' },
  role_insufficient: { ...notAllowed, client: 'ask an owner to change your role' },
  scope_missing: { ...notAllowed, client: 'create an API token with the scope that the message names' },
  rights_changed: {
    kind: 'permission_denied',
    says: 'Your permissions changed during the request. Send it again.',
    client: 'call again',
  },
  admin_caller_unknown: {
    kind: 'unauthenticated',
    says: 'Sign in with POST /admin/v1/session, or send ADMIN_TOKEN or an API token as "authorization: Bearer TOKEN".',
    client: 'sign in, or send a token',
  },
  admin_token_needed: {
    kind: 'unauthenticated',
    says: 'This page requires ADMIN_TOKEN: send it as a bearer token or as the password.',
    client: 'send ADMIN_TOKEN',
  },
  admin_token_guessed: {
    kind: 'rate_limited',
    says: 'Too many wrong tokens from this network. Wait, or use an API token or a session.',
    client: 'wait, or use an API token or a session',
    operator:
      'A program uses an old ADMIN_TOKEN, or someone is guessing. The limit is set by SIGN_IN_ADDRESS_ATTEMPTS_MAX and SIGN_IN_WINDOW_SECONDS.',
  },
  other_site: {
    kind: 'permission_denied',
    says: ({ origin }: { origin: string }) =>
      `Browsers can call this only from ${origin}, but the "sec-fetch-site" or "origin" header names another site or is missing. Behind a proxy, set PUBLIC_URL.`,
    client: 'call from a page of this server',
    operator: 'Behind a proxy, PUBLIC_URL must be the URL that browsers use.',
  },
  sign_in_refused: {
    kind: 'unauthenticated',
    says: 'The e-mail address, password or code is wrong.',
    client: 'try again with the correct ones',
  },
  second_factor_required: {
    kind: 'unauthenticated',
    code: 'second_factor_required',
    says: 'Also send a code from your second factor as "code".',
    client: 'send `code` too',
  },
  sign_in_attempts_spent: {
    kind: 'rate_limited',
    says: 'Too many sign-in attempts. Wait before you try again.',
    client: 'wait',
    operator:
      'Someone is guessing passwords or has forgotten theirs. The limits are SIGN_IN_ATTEMPTS_MAX and SIGN_IN_ADDRESS_ATTEMPTS_MAX.',
  },
  sign_in_busy: {
    kind: 'unavailable',
    says: 'Too many people are signing in at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator:
      'Only a few passwords are checked at a time because each check is expensive. SIGN_IN_HASH_COST sets how expensive.',
  },
  sso_failed: {
    kind: 'unauthenticated',
    says: ({ why }: { why: string }) => `Single sign-on failed. ${why} Start the sign-in again.`,
    client: 'start the sign-in again',
    operator:
      "Check the log for the cause. OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must match the issuer's configuration, and the clocks must be in sync.",
  },
  sso_refused: {
    kind: 'permission_denied',
    says: ({ why }: { why: string }) =>
      `Single sign-on succeeded, but you are not allowed to sign in here. ${why}`,
    client: 'ask an owner for an invitation',
    operator:
      'The OIDC_* settings and the invitations determine who can sign in: see docs/reference/admin-users.md.',
  },
  sso_issuer_away: {
    kind: 'unavailable',
    says: 'The single sign-on provider is not responding. Try again shortly.',
    client: 'try again after `retry-after`',
    operator: 'The gateway cannot reach OIDC_ISSUER.',
  },
  link_dead: {
    kind: 'unknown_path',
    says: 'This link is no longer valid: it was used, has expired or was replaced. Ask an owner for a new one.',
    client: 'ask an owner for a new link',
  },
  admin_call_running: {
    kind: 'request_in_progress',
    says: 'A call with this Idempotency-Key is still running. Try again shortly.',
    client: 'try again shortly',
  },
  admin_call_differs: {
    kind: 'idempotency_mismatch',
    says: 'This Idempotency-Key was already used for a call with a different method, path or body. Use a new key.',
    client: 'use a new key',
  },
  entry_id_taken: {
    kind: 'idempotency_mismatch',
    says: ({ id, owner }: { id: string; owner: string }) =>
      `The id ${id} is already used by ${owner}. Use a new one.`,
    client: 'use a new id',
  },
})
