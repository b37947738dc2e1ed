import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { superviseMetrics } from '../../../src/telemetry/metrics/supervise-metrics.ts'
import { relayLog } from '../../../src/telemetry/relay-log.ts'
import { scrape } from '../../support/metrics.ts'
import { patienceMs } from '../../support/until.ts'

/** A supervisor and a process that answers it, over a real channel. */

/** It says its last values first, and then goes on to count, as a process does that still closes its connections. */
const program = `
const say = (metricsOf, value) =>
  process.send({ metricsOf, snapshot: { tollgate_limits_local_decisions_total: [[[], value]] } })
let counted = 5
process.on('message', ({ metricsWanted }) => say(metricsWanted, counted++))
say(0, 3)
`
const patient = { timeout: patienceMs, interval: 20 }

test('no count falls when a process answers after its last values, and then ends', async () => {
  const served = Promise.withResolvers<string>()
  const log = relayLog((_, fields) => {
    if ('port' in fields) served.resolve(`http://127.0.0.1:${String(fields.port)}/metrics`)
  })
  const metrics = await superviseMetrics(1, { metricsHost: '127.0.0.1', metricsPort: 0 }, log)
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  metrics.follow(child)
  const url = await served.promise
  const value = async (name: string) => (await scrape(url)).value(name) ?? 0
  const decisions = () => value('tollgate_limits_local_decisions_total')
  await expect.poll(decisions, patient).toBeGreaterThanOrEqual(5)
  const said = await decisions()
  child.kill('SIGKILL')
  await expect.poll(() => value('tollgate_processes'), patient).toBe(0)
  expect(await decisions()).toBeGreaterThanOrEqual(said)
})
