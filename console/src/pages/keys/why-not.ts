import type { Key } from '../../api/access-queries.ts'

export type ActVerb = 'Block' | 'Unblock' | 'Disable' | 'Enable' | 'Revoke'

/** Why the gateway would refuse this act on a key; undefined: it would not. */
export function whyNot(
  verb: ActVerb,
  key: Pick<Key, 'revoked_at' | 'blocked' | 'disabled_by' | 'managed_by'>,
  isMember: boolean,
): string | undefined {
  if (key.revoked_at !== null) return 'it is revoked'
  if (verb === 'Unblock') {
    if (key.blocked?.of_parent === true) return 'its parent key is blocked: unblock that one'
    return isMember && key.blocked?.by_role === 'admin'
      ? 'an admin has blocked it, and only an admin can unblock it'
      : undefined
  }
  if (verb === 'Block') return undefined
  if (key.managed_by === 'file')
    return isMember ? 'the operator of the gateway manages it' : 'gateway.yaml manages it'
  return verb === 'Enable' && isMember && key.disabled_by === 'admin'
    ? 'an admin has disabled it, and only an admin can enable it again'
    : undefined
}
