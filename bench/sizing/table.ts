import { tableOf } from '../table.ts'
import type { Costs } from './rig.ts'

export interface Table {
  title: string
  heads: readonly string[]
  rows: readonly (readonly string[])[]
}

export const costHeads = ['main us', 'other us', 'Postgres us', 'Redis us', 'WAL bytes']

export function costCells({ mainUs, othersUs, postgresUs, redisUs, walBytes }: Costs): string[] {
  return [mainUs, othersUs, postgresUs, redisUs, walBytes].map((value) => value.toFixed(0))
}

export function printTable({ title, heads, rows }: Table): void {
  console.log(`\n${title}\n${tableOf([heads, ...rows], (column) => column > 0)}`)
}
