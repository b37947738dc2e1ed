// npm run bench:soak [-- --minutes N]
// Drives one gateway with every kind of load in turn, and prints what its memory does: resident MB after each cycle, and the slope
// after the first quarter, in which caches fill. Exit code 1: an error, rows that are not requests, or more than 1 MB a minute.
//
// --minutes N  20 by default.
// --help       Print this.

import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startRig, targetOf, warmUp } from './measure.ts'
import { residentMb } from './process-cpu.ts'
import { guarded, scenarios } from './scenarios.ts'
import { startGateway } from './subjects.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'
import { openUsageLog } from './usage-log.ts'

helpIfAsked(import.meta.filename)
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '20' } } })
const minutes = Number(values.minutes)
if (!(minutes >= 1)) throw new Error('--minutes takes a number of 1 or more.')

const slopeMbMax = 1
/** Between two cycles, so that what ends with a request has ended. */
const pauseMs = 2_000
const windowMs = 500
const mixed = chosenOf(scenarios, ['small-c16-budgeted', ...guarded]).filter(
  ({ drive }) => drive.kind === 'closed' || drive.kind === 'turns',
)

const rig = await startRig(await openUsageLog(undefined))
const subject = await startGateway(rig)
const seen: { minute: number; residentMb: number }[] = []
const faults: string[] = []
let sent = 0
const began = performance.now()
const minuteNow = () => (performance.now() - began) / 60_000
while (minuteNow() < minutes) {
  for (const scenario of mixed) {
    const { load, missing } = await warmUp(rig, scenario, targetOf(subject, scenario), windowMs)
    sent += load.sent
    const errors = Object.entries(load.errors).map(([error, count]) => `${count} x ${error}`)
    faults.push(...errors.map((error) => `${scenario.name}: ${error}`))
    if (missing !== 0) faults.push(`${scenario.name}: ${missing} calls did not reach the upstream`)
  }
  await delay(pauseMs)
  seen.push({ minute: minuteNow(), residentMb: residentMb(subject.pid) })
  const last = seen.at(-1)
  if (last !== undefined)
    console.log(`${last.minute.toFixed(1)} min  ${last.residentMb.toFixed(0)} MB  ${sent} requests`)
}
await subject.stop()
const rows = await rig.usageLog.rows(sent)
if (rows !== sent) faults.push(`${rows} rows for ${sent} requests`)
await rig.stop()
const slope = slopeOf(seen.filter(({ minute }) => minute > minutes / 4))
console.log(
  `\n${sent} requests, ${rows} rows; ${slope.toFixed(2)} MB a minute after the first quarter (aim: below ${slopeMbMax})`,
)
for (const fault of faults) console.log(fault)
// Without two cycles there is no slope.
process.exitCode = faults.length === 0 && slope <= slopeMbMax ? 0 : 1

/** MB a minute, by least squares. */
function slopeOf(points: readonly { minute: number; residentMb: number }[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length
  const x = mean(points.map(({ minute }) => minute))
  const y = mean(points.map(({ residentMb }) => residentMb))
  const over = points.reduce((sum, { minute, residentMb }) => sum + (minute - x) * (residentMb - y), 0)
  const under = points.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0)
  return over / under
}
