/** The areas of the admin API. Each endpoint belongs to one. */
export const areas = [
  'log',
  'keys',
  'tenants',
  'money',
  'catalog',
  'jobs',
  'health',
  'probes',
  'audit',
  'alerts',
  'views',
  'playground',
  'users',
  'settings',
  'data',
] as const
export type Area = (typeof areas)[number]

/**
 * An area, or a class of endpoints that need no right in an area. `open`: everyone can call it. `any`: all
 * users and tokens. `self`: a user with a session, not a token.
 */
export type RequiredArea = Area | 'open' | 'any' | 'self'

export const verbs = ['read', 'write'] as const
export type Verb = (typeof verbs)[number]

/** In order, from the most rights to the fewest. */
export const roles = ['owner', 'admin', 'viewer', 'member'] as const
export type Role = (typeof roles)[number]

/** A permission of an API token. `keys:write` includes `keys:read`. */
export type TokenScope = `${Area}:${Verb}`
export const scopes: readonly TokenScope[] = areas.flatMap((area) =>
  verbs.map((verb) => `${area}:${verb}` as const),
)

export function isScope(text: string): text is TokenScope {
  return scopes.some((scope) => scope === text)
}

type Rights = Readonly<Record<Area, '-' | 'r' | 'rw'>>

const all = (rights: Rights[Area]): Rights => ({
  log: rights,
  keys: rights,
  tenants: rights,
  money: rights,
  catalog: rights,
  jobs: rights,
  health: rights,
  probes: rights,
  audit: rights,
  alerts: rights,
  views: rights,
  playground: rights,
  users: rights,
  settings: rights,
  data: rights,
})

/**
 * The rights of each role. docs/reference/admin-users.md shows this table, and a test compares the two. A
 * member has these rights only in its own tenant, and only at endpoints that are open to members.
 */
export const rightsOf: Readonly<Record<Role, Rights>> = {
  owner: all('rw'),
  admin: { ...all('rw'), users: 'r', settings: 'r', data: 'r' },
  viewer: { ...all('r'), users: '-' },
  member: {
    ...all('-'),
    keys: 'rw',
    alerts: 'rw',
    views: 'rw',
    playground: 'rw',
    jobs: 'rw',
    log: 'r',
    tenants: 'r',
    money: 'r',
    audit: 'r',
  },
}

/** Whether the role has the right and, for a token, the scopes include it. */
export function may(
  { role, scopes }: { role: Role; scopes: readonly TokenScope[] | undefined },
  area: Area,
  verb: Verb,
): boolean {
  const rights = rightsOf[role][area]
  const byRole = verb === 'read' ? rights !== '-' : rights === 'rw'
  if (!byRole || scopes === undefined) return byRole
  return scopes.includes(`${area}:write`) || (verb === 'read' && scopes.includes(`${area}:read`))
}

/** Limits scopes to the rights of the role: for a viewer, `keys:write` becomes `keys:read`. */
export function scopesWithin(role: Role, wanted: readonly TokenScope[]): TokenScope[] {
  return areas.flatMap((area) =>
    verbs
      .filter((verb) => may({ role, scopes: wanted }, area, verb))
      .map((verb) => `${area}:${verb}` as const),
  )
}

/**
 * Returns the role that comes later in `roles`. A member can write in areas where a viewer cannot; see
 * `scopesWithin`.
 */
export function lesserRole(one: Role, other: Role): Role {
  return roles.indexOf(one) > roles.indexOf(other) ? one : other
}
