import { Dice } from '../log-people.ts'
import type { Table } from './table.ts'

const counts = [2, 4, 8, 16]
const tenantCounts = [200, 2_000, 20_000]

/**
 * Beyond one Postgres: tenants spread over cells, each a deployment of its own. Simulates how full the fullest cell is, as a
 * multiple of an even share: by a hash of the tenant's name, and by giving the largest tenants away first, each to the emptiest
 * cell. Tenants send by Zipf's law: the tenth largest sends a tenth of what the largest does.
 */
export async function cells(): Promise<Table[]> {
  const rows: string[][] = []
  for (const tenants of tenantCounts) {
    const dice = new Dice(20_261_127)
    const loads = Array.from({ length: tenants }, (_, place) => 1 / (place + 1))
    const total = loads.reduce((sum, load) => sum + load, 0)
    for (const count of counts) {
      const byHash = new Array<number>(count).fill(0)
      for (const load of loads) add(byHash, dice.below(count), load)
      const byLoad = new Array<number>(count).fill(0)
      for (const load of loads) add(byLoad, byLoad.indexOf(Math.min(...byLoad)), load)
      const share = (loads: readonly number[]) => ((Math.max(...loads) * count) / total).toFixed(2)
      rows.push([
        tenants.toLocaleString('en-US'),
        `${((100 * (loads[0] ?? 0)) / total).toFixed(1)} %`,
        String(count),
        share(byHash),
        share(byLoad),
      ])
    }
  }
  return [
    {
      title: 'Simulated: the fullest cell against an even share',
      heads: ['tenants', 'largest', 'cells', 'by hash', 'by load'],
      rows,
    },
  ]
}

function add(cells: number[], index: number, load: number): void {
  cells[index] = (cells[index] ?? 0) + load
}
