import { randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import { median } from '../percentile.ts'
import { measureLoad, type Rig, rate, small, startDeployment, warmUp } from './rig.ts'
import { type AdmissionCosts, simulateAdmission } from './simulate-admission.ts'
import type { Table } from './table.ts'

const sizes = [1, 10, 100, 1_000]
const repeats = 40

/** Requests of one tenant in a second, over this many processes. */
const simulated = { perSecond: [100, 1_000, 5_000, 10_000, 20_000], processes: [1, 4, 16, 64] }
const simulatedSeconds = 20
/** What this machine bears, in order to hold the simulation against it. */
const checked = { perSecond: 500, processes: [1, 4] }

/**
 * One tenant's limited money is one row of Postgres, which one transaction has at a time. Measures the two statements that take
 * it, alone, and simulates with their times what more requests and processes than this machine bears would wait for it.
 */
export async function admission(rig: Rig): Promise<Table[]> {
  const { costs, table } = await measureStatements(rig)
  const waits = (perSecond: number, processes: number) => {
    const { p50Ms, p99Ms, isStable } = simulateAdmission({
      ...costs,
      perSecond,
      processes,
      seconds: simulatedSeconds,
    })
    return isStable ? `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(0)}` : 'too many'
  }
  return [
    table,
    {
      title: `The simulation held against this machine: ${checked.perSecond} requests a second of one tenant, p50 / p99 ms`,
      heads: ['processes', 'money recorded', 'money limited', 'simulated wait'],
      rows: await compare(rig, waits),
    },
    {
      title: `Simulated: wait for the money of one tenant, p50 / p99 ms (${describe(costs)})`,
      heads: ['requests/s', ...simulated.processes.map((count) => `${count} processes`)],
      rows: simulated.perSecond.map((perSecond) => [
        perSecond.toLocaleString('en-US'),
        ...simulated.processes.map((processes) => waits(perSecond, processes)),
      ]),
    },
  ]
}

async function measureStatements(rig: Rig): Promise<{ costs: AdmissionCosts; table: Table }> {
  const deployment = await startDeployment(rig, { limited: true })
  try {
    const measured: Record<'hold' | 'settle', number[]> = { hold: [], settle: [] }
    const rows: string[][] = []
    const postgresUs = async () => (await deployment.costs()).postgresUs
    for (const size of sizes) {
      const timed = await timeStatements(deployment.sql, size, postgresUs)
      measured.hold.push(timed.holdMs)
      measured.settle.push(timed.settleMs)
      rows.push([
        String(size),
        timed.holdMs.toFixed(2),
        timed.settleMs.toFixed(2),
        timed.postgresUs.toFixed(0),
      ])
    }
    return {
      costs: { hold: lineOf(measured.hold), settle: lineOf(measured.settle) },
      table: {
        title: 'The money of one tenant: requests in one transaction',
        heads: ['requests', 'hold ms', 'settle ms', 'Postgres us a request'],
        rows,
      },
    }
  } finally {
    await deployment.stop()
  }
}

async function compare(
  rig: Rig,
  waits: (perSecond: number, processes: number) => string,
): Promise<string[][]> {
  const rows: string[][] = []
  for (const processes of checked.processes) {
    const row = [String(processes)]
    for (const limited of [false, true]) {
      const deployment = await startDeployment(rig, { limited, processes })
      try {
        await warmUp(rig, deployment)
        const { load } = await measureLoad(rig, deployment, { ...small, drive: rate(checked.perSecond) })
        row.push(`${(load.latencyP50Us / 1_000).toFixed(1)} / ${(load.latencyP99Us / 1_000).toFixed(0)}`)
      } finally {
        await deployment.stop()
      }
    }
    rows.push([...row, waits(checked.perSecond, processes)])
  }
  return rows
}

/** Medians of whole round trips, commit included, and the CPU of Postgres for both statements. */
async function timeStatements(sql: postgres.Sql, size: number, postgresUs: () => Promise<number>) {
  const [owner] = await sql<{ tenant: string; key: string; group: string; instance: string }[]>`
    select k.tenant_id as tenant, k.id as key, k.group_id as group, (select id from instances limit 1) as instance
    from keys k join tenants t on t.id = k.tenant_id where t.name = 'tenant-1'`
  if (owner === undefined) throw new Error('The gateway has made no key.')
  const [hold, settle]: [number[], number[]] = [[], []]
  const before = await postgresUs()
  for (let repeat = 0; repeat < repeats; repeat++) {
    const ids = Array.from({ length: size }, () => randomUUIDv7())
    const same = (value: string) => ids.map(() => value)
    const began = performance.now()
    const verdicts = await sql<{ verdict: string }[]>`
      select verdict from try_reserve_money(${owner.instance}::uuid, ${ids}::uuid[], ${same(owner.tenant)}::uuid[],
        ${same(owner.key)}::uuid[], ${same(owner.group)}::uuid[], ${same('1000')}::bigint[], true)`
    hold.push(performance.now() - began)
    if (verdicts.some(({ verdict }) => verdict !== 'granted')) throw new Error('The money was not granted.')
    const ended = performance.now()
    await sql`
      select settle_money(${ids}::uuid[], ${[owner.tenant]}::uuid[], ${[owner.key]}::uuid[], ${[owner.group]}::uuid[],
        ${[new Date().toISOString()]}::timestamptz[], ${[String(size)]}::bigint[])`
    settle.push(performance.now() - ended)
  }
  const used = (await postgresUs()) - before
  return { holdMs: median(hold), settleMs: median(settle), postgresUs: used / repeats / size }
}

/** What the first request takes, and each further one: from the smallest and the largest batch. */
function lineOf(ms: readonly number[]): { firstMs: number; furtherMs: number } {
  const [first = Number.NaN, last = Number.NaN] = [ms[0], ms.at(-1)]
  return { firstMs: first, furtherMs: (last - first) / ((sizes.at(-1) ?? Number.NaN) - 1) }
}

function describe({ hold, settle }: AdmissionCosts): string {
  const words = ({ firstMs, furtherMs }: AdmissionCosts['hold']) =>
    `${firstMs.toFixed(1)} ms and ${(furtherMs * 1_000).toFixed(0)} us for each further request`
  return `hold ${words(hold)}; settle ${words(settle)}`
}
