import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { readSealed, replaceSealed, sealedColumns } from '../../src/secrets/reseal-queries.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'

test('values with a key of two columns are read page by page, and replaced unless they have changed', async () => {
  const { url, drop } = await freshDatabase()
  const { sql, close } = openDatabase(url, { max: 2 })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  const column = sealedColumns.find(({ name }) => name === 'kept admin API answers')
  if (column === undefined) throw new Error('no such column')
  const users = [randomUUID(), randomUUID(), randomUUID()]
  for (let n = 0; n < 20; n++)
    await sql`
      INSERT INTO admin_answers (user_id, key_hash, fingerprint, request_id, answer, created_at)
      VALUES (${users[n % 3] ?? ''}, ${randomBytes(32)}, ${randomBytes(8)}, ${randomUUID()}, ${randomBytes(16)}, now())`
  const found: string[] = []
  for (let after: string[] | undefined; ; ) {
    const page = await readSealed(sql, column, after, 8)
    found.push(...page.map(({ sealed }) => sealed.toString('hex')))
    after = page.at(-1)?.key
    if (page.length < 8) break
  }
  const rows = await sql<{ answer: string }[]>`
    SELECT encode(answer, 'hex') AS answer FROM admin_answers ORDER BY user_id, key_hash`
  expect(found).toEqual(rows.map(({ answer }) => answer))

  const [first, second] = await readSealed(sql, column, undefined, 2)
  if (first === undefined || second === undefined) throw new Error('no rows')
  await replaceSealed(sql, column, first, Buffer.from('new'), 'master')
  await replaceSealed(sql, column, { ...second, sealed: Buffer.from('other') }, Buffer.from('new'), 'master')
  const after = await readSealed(sql, column, undefined, 2)
  expect(after.map(({ sealed }) => sealed)).toEqual([Buffer.from('new'), second.sealed])
})
