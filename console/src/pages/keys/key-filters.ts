const dayMs = 86_400_000

const sorts = ['-created_at', 'created_at', 'name', '-name', 'expires_at', '-expires_at'] as const

/** The parameters of the list of keys for what stands in the address. `expires` counts days from the end of today. */
export function keyFilters(get: (name: string) => string, now: Date = new Date()) {
  const state = get('state')
  const days = Number(get('expires'))
  const sort = sorts.find((known) => known === get('sort'))
  const managed = get('managed_by')
  // The end of a day, so that the same address asks the same for a while.
  const until =
    Number.isFinite(days) && days > 0 ? (Math.floor(now.getTime() / dayMs) + days + 1) * dayMs : undefined
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
    ...(sort === undefined ? {} : { sort }),
  }
}

function text<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>)
}
