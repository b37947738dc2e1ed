import { type Role, roles } from '../permissions.ts'

/** A role and, for a member, the name of its tenant. */
export interface GivenRole {
  role: Role
  tenant: string | undefined
}

export type RoleMapping = ReadonlyMap<string, GivenRole>

/**
 * Parses `ops=owner,support=viewer,acme=member:acme`, which maps values of a claim to roles. Returns
 * undefined if the text is malformed.
 */
export function readRoleMapping(text: string): RoleMapping | undefined {
  const mapping = new Map<string, GivenRole>()
  for (const part of text.split(',')) {
    const [, value, word, tenant] = /^\s*([^=]+?)\s*=\s*([a-z]+)(?::(.+?))?\s*$/.exec(part) ?? []
    const role = roles.find((each) => each === word)
    if (value === undefined || role === undefined || (role === 'member') !== (tenant !== undefined))
      return undefined
    mapping.set(value, { role, tenant })
  }
  return mapping
}

/** Returns the highest role that the claim grants, or undefined if it grants none. */
export function roleFrom(mapping: RoleMapping, claim: unknown): GivenRole | undefined {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim]
  const given = values.flatMap((value) => {
    const found = typeof value === 'string' ? mapping.get(value) : undefined
    return found === undefined ? [] : [found]
  })
  return given.toSorted((one, other) => roles.indexOf(one.role) - roles.indexOf(other.role))[0]
}
