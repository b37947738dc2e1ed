// npm run bench:sizing [-- part...] [postgres://...]
// What each part of a deployment costs, and how that grows: docs/reference/sizing.md is made of its tables. Parts: see below;
// `rows` needs the address of a database that `npm run bench:seed-log` has filled, and is left out without it where no part is named. BENCH_MS: how long each load lasts, default 20 s.
//
// Method. Gateway, Postgres, Redis, load driver and mock upstream share this machine. Calls start at fixed times, 1,000 in a
// second where nothing else is said, so that costs are those of a busy deployment and not of a full one. Figures are CPU time,
// user and system, from /proc, and bytes of write-ahead log, of one request; "main" is the event loop's thread. The window ends
// 1.5 s after the last answer, when its rows are in Postgres. Every answer is checked to the byte; a wrong one ends the run.

import { cpus, release } from 'node:os'
import { admission } from './sizing/admission.ts'
import { cells } from './sizing/cells.ts'
import { keys } from './sizing/keys.ts'
import { parts } from './sizing/parts.ts'
import { processes } from './sizing/processes.ts'
import { type Rig, startRig, windowMs } from './sizing/rig.ts'
import { rows } from './sizing/rows.ts'
import { printTable, type Table } from './sizing/table.ts'
import { tenants } from './sizing/tenants.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

const filled = process.argv.slice(2).find((argument) => argument.startsWith('postgres'))
const all: readonly { name: string; measure(rig: Rig): Promise<Table[]> }[] = [
  { name: 'parts', measure: parts },
  { name: 'keys', measure: keys },
  { name: 'tenants', measure: tenants },
  { name: 'processes', measure: processes },
  { name: 'rows', measure: (rig) => rows(rig, filled) },
  { name: 'admission', measure: admission },
  { name: 'cells', measure: cells },
]

const names = process.argv.slice(2).filter((argument) => argument !== filled)
const chosen = chosenOf(all, names).filter(
  ({ name }) => name !== 'rows' || filled !== undefined || names.includes(name),
)
console.log(
  `Node ${process.versions.node}, Linux ${release()}, ${cpus().length} cores (${cpus()[0]?.model}); ` +
    `${new Date().toISOString().slice(0, 10)}; loads of ${windowMs / 1_000} s`,
)
const rig = await startRig()
try {
  for (const { name, measure } of chosen) {
    console.error(`${name} ...`)
    for (const table of await measure(rig)) printTable(table)
  }
} finally {
  await rig.stop()
}
