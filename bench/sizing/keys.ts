import { randomUUID } from 'node:crypto'
import type postgres from 'postgres'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { openUsageLog } from '../usage-log.ts'
import { measureLoad, type Rig, rate, small, startDeployment, warmUp } from './rig.ts'
import { costCells, costHeads, type Table } from './table.ts'

const counts = [0, 10_000, 100_000, 1_000_000]
const inUse = 1_000

/** A table of keys that grows, while 1,000 keys of as many tenants send 1,000 requests a second. */
export async function keys(rig: Rig): Promise<Table[]> {
  const rows: string[][] = []
  for (const count of counts) {
    const usageLog = await openUsageLog(process.env.DATABASE_URL)
    const options = { tenants: inUse, usageLog }
    try {
      await prepareDatabase(usageLog.url)
      // The first start writes tenants and keys; the second one is what a restart is.
      const first = await startDeployment(rig, { ...options, prepare: (sql) => addKeys(sql, count) })
      await first.stop()
      const deployment = await startDeployment(rig, options)
      try {
        await warmUp(rig, deployment)
        const measured = await measureLoad(rig, deployment, { ...small, drive: rate(1_000) })
        rows.push([
          (count + inUse).toLocaleString('en-US'),
          (deployment.readyMs / 1_000).toFixed(1),
          deployment.residentMb().toFixed(0),
          ...costCells(measured),
        ])
      } finally {
        await deployment.stop()
      }
    } finally {
      await usageLog.close()
    }
  }
  return [{ title: 'Keys, 1,000 of them in use', heads: ['keys', 'ready s', 'MB, most', ...costHeads], rows }]
}

/** Keys that no one uses: no secret has such a hash. */
async function addKeys(sql: postgres.Sql, count: number): Promise<void> {
  if (count === 0) return
  const [tenant, group] = [randomUUID(), randomUUID()]
  await sql`insert into tenants (id, name, managed_by) values (${tenant}, 'many keys', 'admin')`
  await sql`insert into key_groups (id, name, models, channels, managed_by)
    values (${group}, 'many keys', '{*}', '{*}', 'admin')`
  await sql`
    insert into keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    select gen_random_uuid(), ${tenant}, ${group}, 'key ' || n, sha256(n::text::bytea), 'sk-', 'admin'
    from generate_series(1, ${count}::int) as n`
  await sql.unsafe('vacuum analyze keys')
}
