import { invalid } from '../../canonical/field-error.ts'
import type { KeyEntry } from '../../catalog/gateway-file.ts'
import { limitsFrom } from '../../db/settings/bounds.ts'
import { settingsOfKeys } from '../../db/settings/key-settings.ts'
import { fromRow, type StoredSettings, toRow } from '../../db/settings/setting.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { usd } from '../../money/price.ts'
import type { GroupRow } from './group-queries.ts'
import { type KeyWithNames, readPeers } from './key-queries.ts'

const { limits, budget } = settingsOfKeys
const bounds = { limits, budget }
type Bounds = StoredSettings<typeof bounds>

const fields: readonly (readonly [keyof Bounds, string])[] = [
  ['requestsPerMinute', 'limits.requests_per_minute'],
  ['tokensPerMinute', 'limits.tokens_per_minute'],
  ['concurrency', 'limits.concurrency'],
  ['budgetDay', 'budget.day'],
  ['budgetMonth', 'budget.month'],
  ['budgetTotal', 'budget.total'],
]

/**
 * Throws `invalid_request` if a member of a tenant gives a key more than an admin has granted: more than the
 * key already has or, for a new key or another group, more than any of the tenant's keys in that group has.
 * If the tenant has no key in the group, the group is refused.
 */
export async function requireMemberBounds(
  tx: TypedTransaction,
  {
    entry,
    group,
    tenantId,
    before,
  }: {
    entry: KeyEntry
    group: GroupRow
    tenantId: string
    /** Undefined for a new key. */
    before: KeyWithNames | undefined
  },
): Promise<void> {
  const peers =
    before?.groupId === group.id
      ? [before]
      : await readPeers(tx, { tenantId, groupId: group.id, but: before?.id })
  if (peers.length === 0) throw noKeyIn(entry.group)
  const wanted = inForce(toRow(bounds, entry), group)
  const granted = peers.map((peer) => inForce(peer, group))
  for (const [name, field] of fields) {
    const given = granted.map((bounds) => bounds[name])
    const value = wanted[name]
    if (given.some((most) => most === null || (value !== null && value <= most))) continue
    const most = given.reduce((one, other) => ((one ?? 0) > (other ?? 0) ? one : other), null) ?? 0
    const shown = typeof most === 'bigint' ? usd(most) : most
    // Nobody knows who set a limit, so a member's own counts as one that an admin has granted.
    const why =
      before?.groupId === group.id
        ? 'which the key has now: a member can lower it, and not raise it again'
        : 'the most that a key of your tenant has in this group'
    throw invalid(field, `expected at most ${shown}, ${why}; ask an admin for more`)
  }
}

/** A member receives the same error for an unknown group, so that it cannot find out the names of groups. */
export function noKeyIn(group: string) {
  return invalid('group', `your tenant has no key in the group "${group}"; ask an admin for one`)
}

/** A key without limits of its own has those of its group. */
function inForce(key: Bounds, group: StoredSettings<{ limits: typeof limits }>): Bounds {
  const own = fromRow(bounds, key)
  return toRow(bounds, { ...own, limits: own.limits ?? limitsFrom(group) })
}
