import { reasonsOf } from './entry.ts'

interface Words {
  message: string
}

const conflict = { kind: 'invalid_request', code: 'conflict', says: ({ message }: Words) => message } as const
const notAllowed = { kind: 'permission_denied', says: ({ message }: Words) => message } as const

/** What only the admin API and sign-in refuse. `code`, where an entry has one, decides the status. */
export const adminReasons = reasonsOf({
  conflict: { ...conflict, client: 'do what the message says first' },
  name_taken: { ...conflict, client: 'use another name, or change what has this one' },
  in_use: { ...conflict, client: 'remove it first from what the message names' },
  managed_elsewhere: { ...conflict, client: 'change it in gateway.yaml, at the line that the message names' },
  last_owner: { ...conflict, client: 'make another user an owner first' },
  precondition_failed: {
    kind: 'invalid_request',
    code: 'precondition_failed',
    says: 'The resource has changed since it was read. Read it again, and send its new ETag as if-match.',
    client: 'read it again, and send the new ETag',
  },
  not_found: {
    kind: 'unknown_path',
    says: ({ what }: { what: string }) => `There is no ${what}.`,
    client: 'use an id from a list of the admin API',
  },
  not_allowed: { ...notAllowed, client: 'ask an owner' },
  role_insufficient: { ...notAllowed, client: 'ask an owner to change your role' },
  scope_missing: { ...notAllowed, client: 'create an API token with the scope that the message names' },
  rights_changed: {
    kind: 'permission_denied',
    says: 'Your rights were changed in the meantime. Call again.',
    client: 'call again',
  },
  admin_caller_unknown: {
    kind: 'unauthenticated',
    says: 'Sign in with POST /admin/v1/session, or send ADMIN_TOKEN or an API token as "authorization: Bearer TOKEN".',
    client: 'sign in, or send a token',
  },
  admin_token_needed: {
    kind: 'unauthenticated',
    says: 'This page needs ADMIN_TOKEN: send it as a bearer token or as the password.',
    client: 'send ADMIN_TOKEN',
  },
  admin_token_guessed: {
    kind: 'rate_limited',
    says: 'Too many wrong tokens from this network. Wait, or use an API token or a session.',
    client: 'wait, or use an API token or a session',
    operator:
      'A program uses a former ADMIN_TOKEN, or someone is guessing. SIGN_IN_ADDRESS_ATTEMPTS_MAX and SIGN_IN_WINDOW_SECONDS are the bounds.',
  },
  other_site: {
    kind: 'permission_denied',
    says: ({ origin }: { origin: string }) =>
      `A browser may call this only from ${origin}: its "sec-fetch-site" or "origin" names another site, or is missing. Behind a proxy set PUBLIC_URL.`,
    client: 'call from the pages of this server',
    operator: 'Behind a proxy, PUBLIC_URL has to be the address that browsers call.',
  },
  sign_in_refused: {
    kind: 'unauthenticated',
    says: 'The e-mail address, password or code is wrong.',
    client: 'try again with the right ones',
  },
  second_factor_required: {
    kind: 'unauthenticated',
    code: 'second_factor_required',
    says: 'Send a code of your second factor too, as "code".',
    client: 'send `code` too',
  },
  sign_in_attempts_spent: {
    kind: 'rate_limited',
    says: 'Too many attempts to sign in. Wait before you try again.',
    client: 'wait',
    operator:
      'Someone is guessing passwords, or forgot theirs. SIGN_IN_ATTEMPTS_MAX and SIGN_IN_ADDRESS_ATTEMPTS_MAX are the bounds.',
  },
  sign_in_busy: {
    kind: 'unavailable',
    says: 'Too many people are signing in at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator:
      'Only a few passwords are checked at a time, because each check takes memory and time: SIGN_IN_HASH_COST.',
  },
  sso_failed: {
    kind: 'unauthenticated',
    says: ({ why }: { why: string }) => `Single sign-on failed. ${why} Begin again.`,
    client: 'begin again',
    operator:
      'The log has the cause. OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET have to match the issuer, and the clocks have to agree.',
  },
  sso_refused: {
    kind: 'permission_denied',
    says: ({ why }: { why: string }) =>
      `Single sign-on succeeded, but this person may not sign in here. ${why}`,
    client: 'ask an owner for an invitation',
    operator:
      'The settings OIDC_* and the invitations decide who may sign in: docs/reference/admin-users.md.',
  },
  sso_issuer_away: {
    kind: 'unavailable',
    says: 'The single sign-on provider does not answer. Try again shortly.',
    client: 'try again after `retry-after`',
    operator: 'The gateway cannot reach OIDC_ISSUER.',
  },
  link_dead: {
    kind: 'unknown_path',
    says: 'This link does not work: it was used, has expired or was replaced. Ask an owner for a new one.',
    client: 'ask an owner for a new link',
  },
  admin_call_running: {
    kind: 'request_in_progress',
    says: 'A call with this Idempotency-Key is running. Try again shortly.',
    client: 'try again shortly',
  },
  admin_call_differs: {
    kind: 'idempotency_mismatch',
    says: 'Another call had this Idempotency-Key: its method, path or body was different. Use a new key.',
    client: 'use a new key',
  },
  entry_id_taken: {
    kind: 'idempotency_mismatch',
    says: ({ id, owner }: { id: string; owner: string }) =>
      `The id ${id} is already that of ${owner}. Use a new one.`,
    client: 'use a new id',
  },
})
