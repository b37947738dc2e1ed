import type { Role, TokenScope } from './permissions.ts'

/** The caller of the admin API. */
export interface Actor {
  /** `operator`: authenticated with ADMIN_TOKEN; `user`: with a session; `token`: with an API token. */
  kind: 'operator' | 'user' | 'token'
  /** The id of the user or API token; null for the operator. */
  id: string | null
  /** The user who owns the session or API token; null for the operator. */
  userId: string | null
  /** A name for people to read, such as the user's e-mail address. */
  name: string
  role: Role
  /** Set for a member, who can only see and change this tenant. */
  tenantId: string | null
  /** The session of this call; only set for a user. */
  sessionId?: string
  /** The scopes of an API token; undefined: all rights of the role. */
  scopes: readonly TokenScope[] | undefined
}

/** The caller of an endpoint that is open to everyone. It has no other rights. */
export const anybody: Actor = {
  kind: 'user',
  id: null,
  userId: null,
  name: '',
  role: 'member',
  tenantId: null,
  scopes: [],
}
