import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import type { ShownProbeRun } from './gateway-answers.ts'
import { json, required, value } from './options.ts'
import type { Terminal } from './terminal.ts'

export const probe = command({
  name: 'probe',
  group: 'Look',
  does: 'probe what a model can do on a channel of a running gateway',
  details:
    'A worker sends about 45 small requests for each protocol that the channel speaks; the resulting verdicts apply from then on (docs/reference/probes.md). Ctrl-C stops waiting for the probe, but does not cancel it. Exit code 1: a run failed, or something that every client needs is broken.',
  options: {
    protocol: value('PROTOCOL', 'only this protocol; default: every protocol that the channel speaks'),
    costMax: value('USD', 'the maximum cost of each run; default: PROBE_MICRO_USD_MAX'),
    json,
    ...gatewayOptions,
  },
  arguments: {
    channel: required('CHANNEL', 'the name of the channel'),
    model: required('MODEL', 'the model name that clients use'),
  },
  async run({ options, arguments: { channel, model }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const { ask, probeRun, probeRuns } = await import('./gateway-answers.ts')
    const { protocol, costMax } = options
    const body = {
      channel,
      model,
      ...(protocol !== undefined && { protocol }),
      ...(costMax !== undefined && { cost_max_usd: costMax }),
    }
    const begun = await ask(probeRuns, gateway, 'POST', 'probes', { body, idempotencyKey: randomUUID() })
    const runs: ShownProbeRun[] = []
    for (const { id, protocol } of begun.data) {
      const look = () => ask(probeRun, gateway, 'GET', `probes/${id}`)
      const run = await terminal.during(`probing ${channel} over ${protocol}`, () => ended(look, call.signal))
      if (!options.json) await show(run, terminal)
      runs.push(run)
    }
    if (options.json) terminal.printJson({ data: runs })
    return runs.every(isWell) ? exitCodes.done : exitCodes.notWell
  },
})

const lookMs = 500

async function ended(look: () => Promise<ShownProbeRun>, signal: AbortSignal): Promise<ShownProbeRun> {
  for (;;) {
    const run = await look()
    if (run.state === 'ended' || run.state === 'failed') return run
    await sleep(lookMs, undefined, { signal })
  }
}

async function show({ state, error, sections, cost_usd }: ShownProbeRun, terminal: Terminal): Promise<void> {
  const { sectionTable } = await import('tollgate-verify/table.ts')
  if (state === 'failed') terminal.print(`The run failed: ${error ?? 'the reason is unknown'}`)
  for (const section of sections ?? []) terminal.print(sectionTable(section, terminal.look).trimEnd())
  terminal.print(cost_usd === null ? 'The cost of the run is unknown.' : `The run cost $${cost_usd}.`)
}

function isWell({ state, sections }: ShownProbeRun): boolean {
  const checks = (sections ?? []).flatMap(({ checks }) => checks)
  return state === 'ended' && !checks.some(({ must, verdict }) => must && verdict === 'broken')
}
