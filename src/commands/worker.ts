import { command } from './command.ts'

export const worker = command({
  name: 'worker',
  group: 'Run',
  does: 'run the jobs of the queues, without opening a port',
  details:
    'The same as `start` with ROLE=worker: it generates images and answers, delivers webhooks, evaluates alerts, runs probes, sweeps and archives.',
  changes: true,
  options: {},
  arguments: {},
  async run({ env }) {
    env.ROLE = 'worker'
    return await (await import('./serve-forever.ts')).serveForever()
  },
})
