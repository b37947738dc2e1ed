import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { giveTo, postgresUser } from '../../src/db/embedded-home.ts'
import { pgbouncerPath } from './machine.ts'
import { ownPort } from './own-port.ts'
import { until } from './until.ts'

/** A PgBouncer before the server of one database. */
export interface PgBouncer {
  /** The same database, through it. */
  url: string
  /** Ask Postgres on the connection that the pooler used last. */
  ask(statement: string): Promise<Record<string, unknown>[]>
  /** Transactions that it has passed on since it started. */
  transactions(): Promise<number>
  stop(): Promise<void>
  kill9(): Promise<void>
  restart(): Promise<void>
}

export interface PgBouncerOptions {
  mode: 'transaction' | 'session'
  /** Connections to Postgres. */
  size?: number
  /** Lines of its configuration. */
  settings?: readonly string[]
}

/** Throws its output when it does not start. */
export async function startPgBouncer(databaseUrl: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(databaseUrl)
  const home = mkdtempSync(join(tmpdir(), 'tollgate-pgbouncer-'))
  chmodSync(home, 0o755)
  const port = await ownPort()
  const file = join(home, 'pgbouncer.ini')
  const server = `host=${hostname} port=${serverPort} user=${username} password=${decodeURIComponent(password)}`
  writeFileSync(
    file,
    [
      '[databases]',
      `* = ${server}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'admin_users = tollgate',
      `pool_mode = ${options.mode}`,
      `default_pool_size = ${options.size ?? 10}`,
      'max_client_conn = 500',
      // A new connection to a Postgres that is down fails at once.
      'server_login_retry = 1',
      ...(options.settings ?? []),
      '',
    ].join('\n'),
  )
  // It refuses to be root.
  const user = postgresUser(home)
  giveTo(user, file)
  const at = new URL(databaseUrl)
  at.port = String(port)
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(pgbouncerPath, [file], { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], ...user })
    let said = ''
    child.stderr?.on('data', (text) => {
      said = `${said}${text}`.slice(-2_000)
    })
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`pgbouncer does not run: ${said}`)
      return await ask(at, pathname, 'select 1').then(
        () => true,
        () => false,
      )
    })
    return child
  }
  let child = await start()
  process.once('exit', () => child.kill('SIGKILL'))
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await ended
  }
  return {
    url: at.href,
    ask: (statement) => ask(at, pathname, statement),
    async transactions() {
      const rows = await ask(at, '/pgbouncer', 'show stats_totals')
      return rows.reduce((sum, row) => sum + Number(row.xact_count), 0)
    },
    async stop() {
      await end('SIGKILL')
      rmSync(home, { recursive: true, force: true })
    },
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL')
      child = await start()
    },
  }
}

/** Its own console speaks the simple protocol alone. */
async function ask(at: URL, pathname: string, statement: string): Promise<Record<string, unknown>[]> {
  const url = new URL(at.href)
  url.pathname = pathname
  const sql = postgres(url.href, {
    ...{ max: 1, connect_timeout: 2, fetch_types: false, prepare: false, onnotice: () => {} },
    connection: { application_name: 'test' },
  })
  try {
    return [...(await sql.unsafe(statement).simple())]
  } finally {
    await sql.end({ timeout: 1 })
  }
}
