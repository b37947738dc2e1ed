import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { onTestFinished } from 'vitest'
import { startEmbedded } from '../../src/db/embedded.ts'
import { findBinaries, giveTo, postgresUser } from '../../src/db/embedded-home.ts'
import { type Postmaster, startPostmaster, stopPostmaster } from '../../src/db/postmaster.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { clusterOf, temporaryDirectory } from './embedded.ts'
import { ownPort } from './own-port.ts'
import { until } from './until.ts'
import { startWire } from './wire.ts'

/** A Postgres with a standby, behind one address. It ends with the test. */
export interface Replicated {
  url: string
  /** Stop it fast, and start it again. */
  restart(): Promise<void>
  /**
   * The primary dies, and its standby, which was behind by at least a second of commits, takes its place. Returns the time
   * from which commits may be lost, and the time when the new primary answers, both of Date.now().
   */
  failOver(): Promise<{ from: number; to: number }>
}

interface Node {
  cluster: string
  port: number
  postmaster: Postmaster
}

const settings = { shared_buffers: '32MB', wal_keep_size: '512MB', max_connections: '250' }

export async function startReplicated(): Promise<Replicated> {
  const home = temporaryDirectory()
  const dataDir = join(home, 'data')
  const first = await startEmbedded({ dataDir, log: silentLog })
  const address = new URL(first.url)
  await first.stop()
  const origin = clusterOf(dataDir)
  const user = postgresUser(origin)
  const binary = join(await findBinaries(dirname(origin), user), 'postgres')
  const startNode = async (cluster: string, port: number): Promise<Node> => {
    const logFile = join(home, `${port}.log`)
    return {
      cluster,
      port,
      postmaster: await startPostmaster({ binary, cluster, port, user, logFile, settings }),
    }
  }
  const ask = async <T>(node: Node, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
    const url = new URL(address.href)
    url.port = String(node.port)
    const sql = postgres(url.href, { max: 1, onnotice: () => {} })
    return await work(sql).finally(() => sql.end({ timeout: 1 }))
  }

  let made = 0
  /** A standby is a copy of the primary that follows it. https://www.postgresql.org/docs/18/continuous-archiving.html */
  const startStandby = async (of: Node): Promise<Node> => {
    const cluster = `${origin}-standby-${made++}`
    const label = await ask(of, async (sql) => {
      await sql`SELECT pg_backup_start('standby', true)`
      cpSync(of.cluster, cluster, {
        recursive: true,
        filter: (path) => !/\/(postmaster\.(pid|opts)|standby\.signal|pg_replslot\/.+)$/.test(path),
      })
      const [stopped] = await sql`SELECT labelfile FROM pg_backup_stop(false)`
      return String(stopped?.labelfile)
    })
    writeFileSync(join(cluster, 'backup_label'), label)
    writeFileSync(join(cluster, 'standby.signal'), '')
    const { username, password } = address
    const follow = `host=127.0.0.1 port=${of.port} user=${username} password=${password}`
    writeFileSync(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${follow}'\n`)
    giveTo(user, cluster)
    return await startNode(cluster, await ownPort())
  }

  let primary = await startNode(origin, Number(address.port))
  let standby = await startStandby(primary)
  onTestFinished(async () => {
    for (const node of [primary, standby]) {
      await stopPostmaster(node.postmaster, node.cluster)
      if (node.cluster !== origin) rmSync(node.cluster, { recursive: true, force: true })
    }
  })
  const wire = await startWire(address.href)
  return {
    url: wire.url,
    async restart() {
      await stopPostmaster(primary.postmaster, primary.cluster)
      primary = await startNode(primary.cluster, primary.port)
    },
    async failOver() {
      const behind = async () => {
        const [row] = await ask(
          primary,
          (sql) => sql`SELECT count(*)::int AS n FROM pg_stat_replication WHERE state = 'streaming'`,
        )
        return row?.n === 1
      }
      await until(behind, 60_000)
      const from = Date.now()
      await ask(standby, async (sql) => {
        await sql`ALTER SYSTEM SET primary_conninfo = ''`
        await sql`SELECT pg_reload_conf()`
        await until(async () => (await sql`SELECT FROM pg_stat_wal_receiver`).length === 0)
      })
      await sleep(1_000)
      await wire.cut()
      const { postmaster, cluster } = primary
      process.kill(postmaster.pid, 'SIGQUIT')
      await stopPostmaster(postmaster, cluster)
      await ask(standby, (sql) => sql`SELECT pg_promote()`)
      if (cluster !== origin) rmSync(cluster, { recursive: true, force: true })
      primary = standby
      wire.aim(primary.port)
      await wire.mend()
      const to = Date.now()
      standby = await startStandby(primary)
      return { from, to }
    },
  }
}
