import { command } from './command.ts'

export const worker = command({
  name: 'worker',
  group: 'Run',
  does: 'run the jobs of the queues, without a port',
  details:
    'The same as `start` with ROLE=worker: it makes images and answers, delivers webhooks, evaluates alerts, probes, sweeps and archives.',
  changes: true,
  options: {},
  arguments: {},
  async run({ env }) {
    env.ROLE = 'worker'
    return await (await import('./serve-forever.ts')).serveForever()
  },
})
