import { command } from './command.ts'

export const start = command({
  name: 'start',
  group: 'Run',
  does: 'start the gateway',
  details:
    'The environment configures it, as docs/reference/configuration.md says. Without DATABASE_URL it starts a Postgres of its own in DATA_DIR, by default ./.tollgate. SIGTERM and Ctrl-C drain it, SIGHUP has GATEWAY_CONFIG applied again. Exit code 1: it could not start, or did not end well.',
  changes: true,
  options: {},
  arguments: {},
  run: async () => await (await import('./serve-forever.ts')).serveForever(),
})
