import { createHook } from 'node:async_hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashPassword } from '../../src/access/users/password.ts'
import type { People } from '../../src/access/users/people.ts'
import { signIn } from '../../src/access/users/sign-in.ts'
import { addUser, changeUser } from '../../src/access/users/user-queries.ts'
import type { TypedTransaction } from '../../src/db/transactions.ts'
import { goodPassword } from '../support/admin-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** A refused sign-in is the same work whether there is such an account or not: its time tells nothing. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed()
  const passwordHash = await hashPassword(goodPassword, bed.tollgate.context.people.bounds)
  const accounts = [
    { id: '00000000-0000-7000-8000-000000000001', email: 'known@example.com', passwordHash },
    { id: '00000000-0000-7000-8000-000000000002', email: 'disabled@example.com', passwordHash },
    { id: '00000000-0000-7000-8000-000000000003', email: 'sso@example.com', passwordHash: null },
  ]
  await bed.tollgate.context.database.admin.transact(async (tx) => {
    for (const account of accounts) await addUser(tx, { ...account, role: 'viewer', tenantId: null })
    await changeUser(tx, '00000000-0000-7000-8000-000000000002', { disabledAt: new Date() })
  })
})
afterAll(() => bed?.close())

const writes = new Set(['insert', 'update', 'delete'])

/** What a sign-in does, in order: questions, transactions, their statements, and scrypt. */
async function workOf(email: string, password: string): Promise<string[]> {
  const work: string[] = []
  const { database, ...people } = bed.tollgate.context.people
  const counted: People = {
    ...people,
    database: {
      keys: {
        ask(question, terms) {
          work.push('question')
          return database.keys.ask(question, terms)
        },
      },
      admin: {
        pool: database.admin.pool,
        transact(run, terms) {
          work.push('begin')
          return database.admin.transact(async (tx) => {
            let isWritten = false
            const answer = await run(
              spied(tx, (name) => {
                work.push('statement')
                isWritten ||= writes.has(name)
              }),
            )
            work.push(isWritten ? 'commit' : 'commit of nothing')
            return answer
          }, terms)
        },
      },
    },
  }
  const hook = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') work.push('scrypt')
    },
  }).enable()
  try {
    const browser = { address: '127.0.0.1', userAgent: '', formerSession: undefined, device: undefined }
    const signedIn = signIn(counted, { email, password, code: undefined }, { ...browser, requestId: someId })
    await expect(signedIn).rejects.toMatchObject({
      reason: 'sign_in_refused',
    })
  } finally {
    hook.disable()
  }
  return work
}

const someId = '00000000-0000-7000-8000-00000000000f'

/** The transaction, which reports its statements to `onStatement`. */
function spied(tx: TypedTransaction, onStatement: (name: string) => void): TypedTransaction {
  const statements = new Set([...writes, 'select', 'execute'])
  return new Proxy(tx, {
    get(target, name) {
      if (typeof name === 'string' && statements.has(name)) onStatement(name)
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

test('a refused sign-in is the same work for known, unknown and disabled accounts', async () => {
  const known = await workOf('known@example.com', 'a wrong password')
  expect(known).toEqual([
    ...['begin', 'statement', 'statement', 'statement', 'commit', 'question', 'scrypt'],
    ...['begin', 'statement', 'statement', 'statement', 'commit'],
  ])
  expect(await workOf('unknown@example.com', 'a wrong password')).toEqual(known)
  expect(await workOf('sso@example.com', 'a wrong password')).toEqual(known)
  expect(await workOf('disabled@example.com', goodPassword)).toEqual(known)
  const lines = await bed.database
    .sql`SELECT resource_name FROM audit_log WHERE action = 'session.refuse' ORDER BY id`
  expect(lines.map(({ resource_name }) => resource_name)).toEqual([
    'known@example.com',
    'sso@example.com',
    'disabled@example.com',
  ])
})
