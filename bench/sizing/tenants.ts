import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Deployment,
  measureIdle,
  measureLoad,
  type Rig,
  rate,
  small,
  startDeployment,
  warmUp,
} from './rig.ts'
import { costCells, costHeads, type Table } from './table.ts'

const counts = [1, 100, 1_000, 10_000]
const changes = 10
const settleMs = 15_000

/**
 * Tenants with limited money that send by turns, 1,000 requests a second together. A change is one of the catalog: each
 * process reads the whole catalog anew, tenants included.
 */
export async function tenants(rig: Rig): Promise<Table[]> {
  const rows: string[][] = []
  for (const count of counts) {
    const deployment = await startDeployment(rig, { tenants: count, limited: true })
    try {
      await warmUp(rig, deployment)
      const measured = await measureLoad(rig, deployment, { ...small, drive: rate(1_000) })
      const change = await measureChange(deployment)
      rows.push([
        count.toLocaleString('en-US'),
        deployment.residentMb().toFixed(0),
        ...costCells(measured),
        ...[measured.load.latencyP50Us, measured.load.latencyP99Us].map((us) => (us / 1_000).toFixed(1)),
        ...[change.mainMs, change.postgresMs].map((ms) => ms.toFixed(0)),
      ])
    } finally {
      await deployment.stop()
    }
  }
  return [
    {
      title: 'Tenants with limited money, all of them sending',
      heads: ['tenants', 'MB, most', ...costHeads, 'p50 ms', 'p99 ms', 'a change: main ms', 'Postgres ms'],
      rows,
    },
  ]
}

/** What one change of a tenant costs, beside what the time costs in which nothing changes. */
async function measureChange(deployment: Deployment): Promise<{ mainMs: number; postgresMs: number }> {
  const spacingMs = 1_000
  // Upkeep has work left from the load: its sums, and rows to clean up.
  await deployment.sql`vacuum analyze`
  await sleep(settleMs)
  const idle = await measureIdle(deployment, changes * spacingMs)
  const before = await deployment.costs()
  for (let change = 0; change < changes; change++) {
    await deployment.sql`update tenants set requests_per_minute = ${1_000_000 + change} where name = 'tenant-1'`
    await sleep(spacingMs)
  }
  const after = await deployment.costs()
  const each = (of: 'mainUs' | 'postgresUs') =>
    (after[of] - before[of] - (idle[of] * changes * spacingMs) / 1_000) / changes / 1_000
  return { mainMs: each('mainUs'), postgresMs: each('postgresUs') }
}
