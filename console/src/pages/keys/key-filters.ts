import { choiceOf, managers, textOf } from '../../parts/filter-values.ts'

const dayMs = 86_400_000

const sorts = [
  ...(['-created_at', 'created_at', 'name', '-name', 'expires_at', '-expires_at'] as const),
  ...(['last_used_at', '-last_used_at', 'new_network_at', '-new_network_at', 'spend', '-spend'] as const),
]

/**
 * The parameters of the list of keys for what is in the address. `expires` counts days from the end of today,
 * `new_network` back from its start.
 */
export function keyFilters(get: (name: string) => string, now: Date = new Date()) {
  const state = get('state')
  const days = Number(get('expires'))
  // The end of a day, so that the same address asks the same for a while.
  const until =
    Number.isFinite(days) && days > 0 ? (Math.floor(now.getTime() / dayMs) + days + 1) * dayMs : undefined
  const newDays = Number(get('new_network'))
  const since =
    Number.isFinite(newDays) && newDays > 0
      ? (Math.floor(now.getTime() / dayMs) - newDays) * dayMs
      : undefined
  return {
    ...textOf(get, 'search'),
    ...textOf(get, 'tenant'),
    ...textOf(get, 'group'),
    ...textOf(get, 'hint'),
    ...(state === 'blocked' ? { revoked: 'false' as const, blocked: 'true' as const } : {}),
    ...(state === 'revoked' ? { revoked: 'true' as const } : {}),
    ...(state === 'disabled' ? { revoked: 'false' as const, disabled: 'true' as const } : {}),
    ...(state === 'enabled' ? { revoked: 'false' as const, disabled: 'false' as const } : {}),
    ...choiceOf(get, 'managed_by', managers),
    ...(until === undefined ? {} : { expires_before: new Date(until).toISOString() }),
    ...textOf(get, 'network'),
    ...(since === undefined ? {} : { new_network_since: new Date(since).toISOString() }),
    ...choiceOf(get, 'sort', sorts),
  }
}
