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

const counts = [1, 2, 4, 8]

/** The same 500 requests a second over more and more processes: each ships its own rows and asks for its own money. */
export async function processes(rig: Rig): Promise<Table[]> {
  const rows: string[][] = []
  const idleRows: string[][] = []
  for (const count of counts) {
    const deployment = await startDeployment(rig, { processes: count, limited: true, tenants: 100 })
    try {
      await allStarted(deployment)
      const idle = await measureIdle(deployment, 10_000)
      const idleMb = deployment.residentMb()
      const [found] = await deployment.sql<{ connections: number }[]>`
        select count(*)::int as connections from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
      const perMille = (us: number) => (us / 1_000).toFixed(1)
      idleRows.push([
        String(count),
        idleMb.toFixed(0),
        String(found?.connections),
        perMille(idle.mainUs + idle.othersUs),
        perMille(idle.postgresUs),
        (idle.walBytes / 1_000).toFixed(1),
      ])
      // Each process compiles for itself.
      for (let process = 0; process < count; process++) await warmUp(rig, deployment)
      const measured = await measureLoad(rig, deployment, { ...small, drive: rate(500) })
      rows.push([
        String(count),
        ...costCells(measured),
        ...[measured.load.latencyP50Us, measured.load.latencyP99Us].map((us) => (us / 1_000).toFixed(1)),
      ])
    } finally {
      await deployment.stop()
    }
  }
  return [
    {
      title: '500 requests a second with limited money, over processes',
      heads: ['processes', ...costHeads, 'p50 ms', 'p99 ms'],
      rows,
    },
    {
      title: 'Processes that wait: cores in thousandths',
      heads: ['processes', 'MB', 'connections', 'gateway', 'Postgres', 'WAL KB/s'],
      rows: idleRows,
    },
  ]
}

/** Readiness is that of the first process. A start takes seconds of a core; afterwards a process does nearly nothing. */
async function allStarted(deployment: Deployment): Promise<void> {
  for (let second = 0; second < 120; second++) {
    const { mainUs, othersUs } = await measureIdle(deployment, 2_000)
    if (mainUs + othersUs < 400_000) return
  }
  throw new Error('The processes do not come to rest.')
}
