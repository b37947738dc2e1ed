import { expect, test } from 'vitest'
import { hashPassword, isPassword } from '../../src/access/users/password.ts'
import { readConfig } from '../../src/config.ts'

test('a hash keeps its cost, so passwords work after PASSWORD_COST has changed', async () => {
  const stored = await hashPassword('correct horse battery', { passwordCost: 10 })
  expect(stored).toMatch(/^scrypt\$10\$8\$3\$/)
  expect(await isPassword('correct horse battery', stored, { passwordCost: 11 })).toBe(true)
  expect(await isPassword('correct horse batterz', stored, { passwordCost: 11 })).toBe(false)
  expect(await isPassword('', null, { passwordCost: 10 })).toBe(false)
})

test('PASSWORD_COST is what OWASP recommends unless it is set', () => {
  const env = {
    DATABASE_URL: 'postgres://localhost/tollgate',
    SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
  }
  expect(readConfig(env).bounds.passwordCost).toBe(15)
  expect(() => readConfig({ ...env, PASSWORD_COST: '9' })).toThrow('PASSWORD_COST')
})
