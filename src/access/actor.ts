import type { Role, TokenScope } from './permissions.ts'

/** Who calls the admin API. */
export interface Actor {
  /** `operator` has ADMIN_TOKEN, `user` a session, `token` an API token. */
  kind: 'operator' | 'user' | 'token'
  /** Id of the user, or of the API token; null: the operator. */
  id: string | null
  /** The user behind the session or the API token; null: the operator. */
  userId: string | null
  /** For people, such as the e-mail address of the user. */
  name: string
  role: Role
  /** Set for a member: it sees and changes this tenant only. */
  tenantId: string | null
  /** Of a user: the session of this call. */
  sessionId?: string
  /** Of an API token; undefined: all rights of the role. */
  scopes: readonly TokenScope[] | undefined
}

/** The caller of an endpoint that is open to everybody. It has no other rights. */
export const anybody: Actor = {
  kind: 'user',
  id: null,
  userId: null,
  name: '',
  role: 'member',
  tenantId: null,
  scopes: [],
}
