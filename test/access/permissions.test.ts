import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { areas, isScope, lesserRole, may, rightsOf, roles, scopes } from '../../src/access/permissions.ts'
import { readRoleMapping, roleFrom } from '../../src/access/users/oidc-roles.ts'

test('the table of roles in the docs is the one that counts', () => {
  const text = readFileSync('docs/reference/admin-users.md', 'utf8')
  const rows = [...text.matchAll(/^\| `(\w+)`\s*\|((?:\s*(?:rw|r|-)\s*\|){4})/gm)]
  const documented = rows.map(([, area, cells = '']) => [area, ...(cells.match(/rw|r|-/g) ?? [])])
  expect(documented).toEqual(areas.map((area) => [area, ...roles.map((role) => rightsOf[role][area])]))
})

test('a token does what both its role and its scopes allow, and writing includes reading', () => {
  const token = { role: 'viewer', scopes: ['keys:write', 'log:read'] } as const
  expect(may(token, 'keys', 'read')).toBe(true)
  expect(may(token, 'keys', 'write')).toBe(false)
  expect(may(token, 'log', 'read')).toBe(true)
  expect(may(token, 'money', 'read')).toBe(false)
  expect(may({ ...token, role: 'admin' }, 'keys', 'write')).toBe(true)
  expect(may({ role: 'owner', scopes: [] }, 'log', 'read')).toBe(false)
  expect(may({ role: 'owner', scopes: undefined }, 'data', 'write')).toBe(true)
})

test('scopes are made of areas and verbs', () => {
  expect(scopes).toHaveLength(areas.length * 2)
  expect(isScope('keys:read')).toBe(true)
  expect(isScope('keys:delete')).toBe(false)
})

test('the lesser role is the one with fewer rights', () => {
  expect(lesserRole('owner', 'viewer')).toBe('viewer')
  expect(lesserRole('member', 'admin')).toBe('member')
})

test('a claim gives the greatest of its roles', () => {
  const mapping = readRoleMapping('ops = owner, support=viewer,acme=member:Acme Inc') ?? new Map()
  expect(roleFrom(mapping, ['support', 'ops'])?.role).toBe('owner')
  expect(roleFrom(mapping, 'acme')).toEqual({ role: 'member', tenant: 'Acme Inc' })
  expect(roleFrom(mapping, ['others', 7])).toBeUndefined()
  expect(roleFrom(mapping, undefined)).toBeUndefined()
  for (const wrong of ['ops', 'ops=king', 'acme=member', 'ops=owner:acme'])
    expect(readRoleMapping(wrong)).toBeUndefined()
})
