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
      `The API key ${hint} is mistyped or incomplete: its checksum is wrong. Copy it again.`,
    client: 'copy the whole key again',
  },
  key_unknown: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) =>
      `The API key ${hint} is not known here. Use a key of this gateway, not one of a provider.`,
    client: 'use a key that this gateway has issued',
  },
  key_disabled: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) => `The API key ${hint} is disabled. Use another.`,
    client: 'use another key, or ask the operator to enable this one',
    operator:
      'The key is disabled or revoked, or no longer in gateway.yaml. Enable it or put it back, or issue another.',
  },
  key_expired: {
    kind: 'unauthenticated',
    says: ({ hint, at }: OfKey & { at: string }) => `The API key ${hint} expired at ${at}. Use another.`,
    client: 'use another key',
    operator: 'Set a later `expires_at`, or issue another key.',
  },
  key_gone: {
    kind: 'unauthenticated',
    says: 'The API key of this request was deleted while the request was waiting. Send it again with another key.',
    client: 'send the request again with another key',
  },
  key_address_refused: {
    kind: 'permission_denied',
    says: ({ hint, address }: OfKey & { address: string }) =>
      `The API key ${hint} may not be used from ${address}. Ask the operator to allow this address.`,
    client: 'call from an address that the key allows',
    operator:
      'The key or its parent has `allowed_cidrs`: add the address. If it is that of a proxy, name the proxy in TRUSTED_PROXIES.',
  },
  key_group_gone: {
    kind: 'permission_denied',
    says: "This key's group no longer exists. Ask the operator for another key.",
    client: 'ask the operator for a key of another group',
    operator: 'Move the key to another group, or create the group again.',
  },
  tenant_disabled: {
    kind: 'permission_denied',
    says: ({ hint }: OfKey) =>
      `The tenant of the API key ${hint} is disabled. Ask the operator to enable it.`,
    client: 'ask the operator to enable the tenant',
    operator: 'Enable the tenant, or put it back into gateway.yaml.',
  },
  tenant_not_loaded: {
    kind: 'unavailable',
    says: ({ hint }: OfKey) =>
      `The tenant of the API key ${hint} is new, and this gateway does not know it yet. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'This process has not read the catalog since the tenant was created. If that takes more than seconds, the log says why.',
  },
  key_checks_full: {
    kind: 'unavailable',
    says: 'The gateway cannot check API keys at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator:
      'Too many keys that are not in memory are being looked up in Postgres: it is away (`database_away`) or slow, or someone is guessing keys.',
  },
  model_not_allowed: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" is not available to this key. GET /v1/models lists those that are.`,
    client: 'name a model that GET /v1/models lists',
  },
  plain_http_refused: {
    kind: 'permission_denied',
    says: 'This request came over plain HTTP, where others can read its key. Call https:// instead, and replace the key.',
    client: 'call https://, and replace the key that was sent over plain HTTP',
    operator:
      'Replace the key. If the client called https://, name the proxy that ends TLS in TRUSTED_PROXIES, and have it send `x-forwarded-proto: https`: docs/reference/deployment.md.',
  },
  sub_keys_not_allowed: {
    kind: 'permission_denied',
    says: 'This key may not create sub-keys. The operator can allow it with the setting "sub_keys" of the key.',
    client: 'ask the operator to allow sub-keys',
  },
  sub_keys_max: {
    kind: 'permission_denied',
    says: ({ most }: { most: number }) =>
      `This key has ${most} sub-keys, which is the limit. Revoke one first.`,
    client: 'revoke a sub-key first',
  },
  sub_key_not_found: {
    kind: 'unknown_path',
    says: 'This key has no such sub-key. GET /v1/keys lists them.',
    client: 'use an id from GET /v1/keys',
  },
  webhook_secret_not_shared: {
    kind: 'permission_denied',
    says: 'The webhook secret signs the webhooks of all keys of this tenant, and this key may see only its own requests (usage_scope: key). Use a key of the tenant with usage_scope: tenant.',
    client: 'use a key with usage_scope: tenant',
  },
})
