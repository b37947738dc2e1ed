import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { administer } from './administer.ts'
import { pgbouncerPath } from './machine.ts'
import { ownPort } from './own-port.ts'
import { until } from './until.ts'

/** A PgBouncer in front of the database of an address. `settings` are lines of its file. */
export async function startPgbouncer(
  databaseUrl: string,
  settings: readonly string[],
): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await ownPort()
  const { hostname, port: ofPostgres, username, password, pathname } = new URL(databaseUrl)
  const login = `user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${ofPostgres || 5432} ${login}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...settings,
  ]
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, `${lines.join('\n')}\n`)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawn(pgbouncerPath, [file], { stdio: 'ignore', ...user })
  const ended = new Promise((done) => child.once('exit', done))
  const url = new URL(databaseUrl)
  url.port = String(port)
  url.hostname = '127.0.0.1'
  url.pathname = pathname
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    return await administer(url.href, 'SELECT 1').then(
      () => true,
      () => false,
    )
  })
  return {
    url: url.href,
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
