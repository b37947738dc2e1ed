import { reasonsOf } from './entry.ts'

interface OfKey {
  /** Identifies the key by its first and last characters. */
  hint: string
}

/** Refusals about who is calling and what they are allowed to do. */
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
      `The API key ${hint} is mistyped or incomplete: its checksum does not match. Copy the whole key again.`,
    client: 'copy the whole key again',
  },
  key_unknown: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) =>
      `The API key ${hint} is unknown. Use a key issued by this gateway, not one from a provider.`,
    client: 'use a key that this gateway has issued',
  },
  key_blocked: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) =>
      `The API key ${hint} is blocked. Ask the operator of this gateway what has happened; until then, use another key.`,
    client: 'ask the operator why the key is blocked, or use another key',
    operator:
      'A person has blocked the key or its parent: `blocked` of the key says who, when and why. Only a person can lift it, in the console or with `tollgate keys unblock`.',
  },
  key_disabled: {
    kind: 'unauthenticated',
    says: ({ hint }: OfKey) => `The API key ${hint} is disabled. Use another key.`,
    client: 'use another key, or ask the operator to enable this one',
    operator:
      'The key is disabled, revoked or no longer in gateway.yaml. Enable or restore it, or issue another one.',
  },
  key_expired: {
    kind: 'unauthenticated',
    says: ({ hint, at }: OfKey & { at: string }) => `The API key ${hint} expired at ${at}. Use another key.`,
    client: 'use another key',
    operator: 'Set a later `expires_at`, or issue another key.',
  },
  key_gone: {
    kind: 'unauthenticated',
    says: 'The API key of this request was deleted while the request was waiting. Send the request again with another key.',
    client: 'send the request again with another key',
  },
  key_address_refused: {
    kind: 'permission_denied',
    says: ({ hint, address }: OfKey & { address: string }) =>
      `The API key ${hint} cannot be used from ${address}. Ask the operator to allow this address.`,
    client: 'call from an address that is allowed for the key',
    operator:
      'The key or its parent sets `allowed_cidrs`: add the address. If it is the address of a proxy, add the proxy to TRUSTED_PROXIES instead.',
  },
  key_group_gone: {
    kind: 'permission_denied',
    says: "This key's group no longer exists. Ask the operator for another key.",
    client: 'ask the operator for a key in another group',
    operator: 'Move the key to another group, or recreate the group.',
  },
  tenant_disabled: {
    kind: 'permission_denied',
    says: ({ hint }: OfKey) =>
      `The tenant of the API key ${hint} is disabled. Ask the operator to enable it.`,
    client: 'ask the operator to enable the tenant',
    operator: 'Enable the tenant, or add it to gateway.yaml again.',
  },
  tenant_not_loaded: {
    kind: 'unavailable',
    says: ({ hint }: OfKey) =>
      `The tenant of the API key ${hint} was created recently and is not available on this gateway process yet. Try again.`,
    client: 'try again after `retry-after`',
    operator:
      'This process has not reloaded the catalog since the tenant was created. If that takes longer than a few seconds, check the log for the cause.',
  },
  key_checks_full: {
    kind: 'unavailable',
    says: 'The gateway cannot check API keys at the moment. Try again shortly.',
    client: 'try again after `retry-after`',
    operator:
      'Too many keys that are not cached are being looked up in Postgres: it is unavailable (`database_away`) or slow, or someone is guessing keys.',
  },
  model_not_allowed: {
    kind: 'model_not_found',
    says: ({ model }: { model: string }) =>
      `Model "${model}" is not available to this key. GET /v1/models lists the available models.`,
    client: 'use a model that GET /v1/models lists',
  },
  plain_http_refused: {
    kind: 'permission_denied',
    says: 'This request was sent over plain HTTP, which exposes its API key. Use https:// instead, and replace the key.',
    client: 'use https://, and replace the key that was sent over plain HTTP',
    operator:
      'Replace the key. If the client did use https://, add the proxy that terminates TLS to TRUSTED_PROXIES, and configure it to send `x-forwarded-proto: https`: see docs/reference/deployment.md.',
  },
  sub_keys_not_allowed: {
    kind: 'permission_denied',
    says: 'This key is not allowed to create sub-keys. The operator can allow it with the "sub_keys" setting of the key.',
    client: 'ask the operator to allow sub-keys',
  },
  sub_keys_max: {
    kind: 'permission_denied',
    says: ({ most }: { most: number }) =>
      `This key has ${most} sub-keys, which is the limit. Revoke one before you create another.`,
    client: 'revoke a sub-key first',
  },
  sub_key_not_found: {
    kind: 'unknown_path',
    says: 'This key has no sub-key with this id. GET /v1/keys lists its sub-keys.',
    client: 'use an id from GET /v1/keys',
  },
  webhook_secret_not_shared: {
    kind: 'permission_denied',
    says: 'The webhook secret signs the webhooks of all keys of this tenant, but this key can see only its own requests (usage_scope: key). Use a key of the tenant with usage_scope: tenant.',
    client: 'use a key with usage_scope: tenant',
  },
})
