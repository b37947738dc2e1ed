import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { administer } from '../support/administer.ts'
import { startDebianPostgres } from '../support/debian-postgres.ts'

/** A Postgres of an operator's own, with `pg_dump` and its kind beside it. It goes with the test. */
export async function ownServer() {
  const server = await startDebianPostgres({ fsync: 'off', max_connections: '150' })
  onTestFinished(() => server.stop())
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const urlOf = (name: string) => {
    const url = new URL(server.url)
    url.pathname = `/${name}`
    return url.href
  }
  const administrate = (statement: string, name = 'postgres') => administer(urlOf(name), statement)
  return { server, folder, urlOf, administrate }
}
