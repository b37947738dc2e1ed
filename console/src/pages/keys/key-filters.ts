const dayMs = 86_400_000

const sorts = [
  ...(['-created_at', 'created_at', 'name', '-name', 'expires_at', '-expires_at'] as const),
  ...(['last_used_at', '-last_used_at', 'new_network_at', '-new_network_at'] as const),
]

/** The parameters of the list of keys for what stands in the address. `expires` counts days from the end of today, `new_network` back from its start. */
export function keyFilters(get: (name: string) => string, now: Date = new Date()) {
  const state = get('state')
  const days = Number(get('expires'))
  const sort = sorts.find((known) => known === get('sort'))
  const managed = get('managed_by')
  // The end of a day, so that the same address asks the same for a while.
  const until =
    Number.isFinite(days) && days > 0 ? (Math.floor(now.getTime() / dayMs) + days + 1) * dayMs : undefined
  const newDays = Number(get('new_network'))
  const since =
    Number.isFinite(newDays) && newDays > 0
      ? (Math.floor(now.getTime() / dayMs) - newDays) * dayMs
      : undefined
  return {
    ...text('search', get('search')),
    ...text('tenant', get('tenant')),
    ...text('group', get('group')),
    ...text('hint', get('hint')),
    ...(state === 'revoked' ? { revoked: 'true' as const } : {}),
    ...(state === 'disabled' ? { revoked: 'false' as const, disabled: 'true' as const } : {}),
    ...(state === 'enabled' ? { revoked: 'false' as const, disabled: 'false' as const } : {}),
    ...(managed === 'file' || managed === 'admin' ? { managed_by: managed as 'file' | 'admin' } : {}),
    ...(until === undefined ? {} : { expires_before: new Date(until).toISOString() }),
    ...text('network', get('network')),
    ...(since === undefined ? {} : { new_network_since: new Date(since).toISOString() }),
    ...(sort === undefined ? {} : { sort }),
  }
}

function text<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>)
}
