import { command } from './command.ts'

export const start = command({
  name: 'start',
  group: 'Run',
  does: 'start the gateway',
  details:
    'It is configured by the environment; see docs/reference/configuration.md. Without DATABASE_URL it starts its own Postgres in DATA_DIR, by default ./.tollgate. SIGTERM and Ctrl-C drain it; SIGHUP applies GATEWAY_CONFIG again. Exit code 1: the gateway could not start, or did not shut down cleanly.',
  changes: true,
  options: {},
  arguments: {},
  run: async () => await (await import('./serve-forever.ts')).serveForever(),
})
