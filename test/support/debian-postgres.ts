import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { giveTo, postgresUser } from '../../src/db/embedded-home.ts'
import { startPostmaster, stopPostmaster } from '../../src/db/postmaster.ts'
import { debianPrograms, oldestPostgres } from './machine.ts'
import { ownPort } from './own-port.ts'

/** A server of Debian's package, with a cluster of its own that goes with it. */
export interface DebianPostgres {
  /** Of the database `postgres`, with the superuser. */
  url: string
  /** The folder of its data. */
  cluster: string
  stop(): Promise<void>
}

/**
 * Start it, as a user that is not root: on a new cluster, or on a copy of one that this function has made. Throws an Error that
 * says how to get the package where it is not there.
 */
export async function startDebianPostgres(
  settings: Record<string, string>,
  copied?: string,
): Promise<DebianPostgres> {
  const major = oldestPostgres
  const programs = debianPrograms(major)
  if (!existsSync(join(programs, 'postgres')))
    throw new Error(`Postgres ${major} is not in ${programs}: apt-get install postgresql-${major}`)
  const home = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
  // Root's server runs as another user, who must be able to enter.
  chmodSync(home, 0o711)
  const cluster = join(home, 'postgres')
  const passwordFile = join(home, 'password')
  mkdirSync(cluster, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  const user = postgresUser(cluster)
  if (copied !== undefined) cpSync(copied, cluster, { recursive: true })
  for (const path of [cluster, passwordFile]) giveTo(user, path)
  const args = ['-D', cluster, '-U', 'tollgate', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
  if (copied === undefined)
    execFileSync(join(programs, 'initdb'), [...args, ...locale], { cwd: '/', stdio: 'pipe', ...user })
  const port = await ownPort()
  const binary = join(programs, 'postgres')
  const logFile = join(home, 'postgres.log')
  const running = await startPostmaster({ binary, cluster, port, user, logFile, settings })
  return {
    url: `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`,
    cluster,
    async stop() {
      await stopPostmaster(running, cluster)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

const password = 'a-password-for-tests'
