import { reasonsOf } from './entry.ts'

interface OfKey {
  /** The first and last characters of the key. */
  hint: string
}

/** Who calls, and what they may do. */
export const accessReasons = reasonsOf({
  key_missing: {
    kind: 'unauthenticated',
    says: ({ instead }: { instead: string }) =>
      `No API key was sent${instead}. Send it as "authorization: Bearer KEY" or as "x-api-key: KEY".`,
    client: 'send a key in one of the two headers',
  },
  key_mistyped: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) =>
      `The API key ${hint} is mistyped or cut: its checksum is wrong. Copy it again.`,
    client: 'copy the key again, whole',
  },
  key_unknown: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) =>
      `The API key ${hint} is not known here. Use a key of this gateway, not one of a provider.`,
    client: 'use a key of this gateway',
  },
  key_disabled: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) => `The API key ${hint} is disabled. Use another.`,
    client: 'use another key, or ask an admin to enable this one',
  },
  key_expired: {
    kind: 'unauthenticated',
    says: ({ hint, at }: OfKey & { at: string }) => `The API key ${hint} expired at ${at}. Use another.`,
    client: 'use another key',
  },
  key_gone: {
    kind: 'unauthenticated',
    says: 'The key of this request is gone.',
    client: 'send the request again with another key',
  },
  key_address_refused: {
    kind: 'permission_denied',
    says: ({ hint, address }: OfKey & { address: string }) =>
      `The API key ${hint} may not be used from ${address}.`,
    client: 'call from an address that the key allows',
    operator:
      'The key or its parent has `allowed_cidrs`. Behind a proxy, TRUSTED_PROXIES has to name it, or every client has its address.',
  },
  key_group_gone: {
    kind: 'permission_denied',
    says: "This key's group no longer exists.",
    client: 'ask an admin for a key of another group',
    operator: 'The catalog lacks the group of the key: give the key another group, or make the group again.',
  },
  tenant_disabled: {
    kind: 'permission_denied',
    says: ({ hint }: OfKey) => `The tenant of the API key ${hint} is disabled.`,
    client: 'ask an admin to enable the tenant',
  },
  tenant_not_loaded: {
    kind: 'unavailable',
    says: ({ hint }: OfKey) => `The tenant of the API key ${hint} is not loaded yet. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'The tenant is new, and this process has not read the catalog since. If it goes on for seconds, GET /readyz and the log say why the catalog is old.',
  },
  key_checks_full: {
    kind: 'unavailable',
    says: 'The gateway cannot check API keys at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator:
      'Too many keys that are not in memory wait for Postgres: it is slow, or someone guesses keys. See `database_away`.',
  },
  model_not_allowed: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" is not available to this key. GET /v1/models lists those that are.`,
    client: 'name a model that GET /v1/models lists',
  },
  plain_http_refused: {
    kind: 'permission_denied',
    says: 'This request came over plain HTTP, where its key can be read by others. Call https:// instead, and change the key if it was sent like this.',
    client: 'call https://, and change a key that was sent over plain HTTP',
    operator:
      'Behind a proxy that ends TLS, TRUSTED_PROXIES has to name it and it has to send `x-forwarded-proto: https`.',
  },
  sub_keys_not_allowed: {
    kind: 'permission_denied',
    says: 'This key may not make sub-keys. An admin allows it with "sub_keys" of the key.',
    client: 'ask an admin to allow sub-keys',
  },
  sub_keys_max: {
    kind: 'permission_denied',
    says: ({ most }: { most: number }) =>
      `This key has ${most} sub-keys, as many as it may. Revoke one first.`,
    client: 'revoke a sub-key first',
  },
  sub_key_not_found: {
    kind: 'unknown_path',
    says: 'This key has no such sub-key.',
    client: 'take an id of GET /v1/keys',
  },
  webhook_secret_not_shared: {
    kind: 'permission_denied',
    says: 'The webhook secret signs the webhooks of all keys of this tenant, and this key may see only its own requests (usage_scope: key). Use a key of the tenant with usage_scope: tenant.',
    client: 'use a key with usage_scope: tenant',
  },
})
