import { index, jsonb, pgTable, text, uuid } from './drizzle.cjs'
import { channels } from './schema-catalog.ts'
import { moment, nano } from './schema-types.ts'

/** Runs of probes: each asks one offer in one protocol what it can do. Its findings are in `verdicts`. */
export const probeRuns = pgTable(
  'probe_runs',
  {
    id: uuid('id').primaryKey(),
    channelId: uuid('channel_id')
      .notNull()
      .references(() => channels.id),
    /** The public name. */
    model: text('model').notNull(),
    upstreamModel: text('upstream_model').notNull(),
    protocol: text('protocol').notNull(),
    origin: text('origin', { enum: ['admin', 'schedule'] }).notNull(),
    state: text('state', { enum: ['queued', 'running', 'ended', 'failed'] }).notNull(),
    /** The most that it may cost. */
    costMax: nano('cost_max_nano').notNull(),
    /** The key of its requests; NULL: it has not begun. */
    keyId: uuid('key_id'),
    /** What it found; NULL: it has not ended. */
    report: jsonb('report').$type<Record<string, unknown>>(),
    /** Why it failed. */
    error: text('error'),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    endedAt: moment('ended_at'),
  },
  (t) => [
    index('probe_runs_offer').on(t.channelId, t.model, t.createdAt),
    index('probe_runs_created_at').on(t.createdAt),
  ],
)
