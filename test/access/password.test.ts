import { expect, test } from 'vitest'
import { hashPassword, isPassword } from '../../src/access/users/password.ts'
import { readConfig } from '../../src/config/config.ts'

test('a hash keeps its cost, so passwords work after SIGN_IN_HASH_COST has changed', async () => {
  const stored = await hashPassword('correct horse battery', { signInHashCost: 10 })
  expect(stored).toMatch(/^scrypt\$10\$8\$3\$/)
  expect(await isPassword('correct horse battery', stored, { signInHashCost: 11 })).toBe(true)
  expect(await isPassword('correct horse batterz', stored, { signInHashCost: 11 })).toBe(false)
  expect(await isPassword('', null, { signInHashCost: 10 })).toBe(false)
})

test('two passwords are checked at once and 64 wait', async () => {
  const checks = Array.from({ length: 67 }, () => isPassword('x', null, { signInHashCost: 10 }))
  const ended = await Promise.allSettled(checks)
  expect(ended.filter(({ status }) => status === 'rejected')).toMatchObject([
    { reason: { reason: 'sign_in_busy', retryAfterSeconds: 5 } },
  ])
})

test('SIGN_IN_HASH_COST is what OWASP recommends unless it is set', () => {
  const env = {
    DATABASE_URL: 'postgres://localhost/tollgate',
    SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
  }
  expect(readConfig(env).bounds.signInHashCost).toBe(15)
  expect(() => readConfig({ ...env, SIGN_IN_HASH_COST: '9' })).toThrow('SIGN_IN_HASH_COST')
})
