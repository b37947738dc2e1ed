import {
  bigint,
  boolean,
  date,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uniqueIndex,
  uuid,
} from '../drizzle.cjs'
import { bytea, moment } from './types.ts'

/** Alert rules. */
export const alertRules = pgTable(
  'alert_rules',
  {
    id: uuid('id').primaryKey(),
    /** NULL: a rule of the operators, covering all tenants. */
    tenantId: uuid('tenant_id'),
    name: text('name').notNull(),
    kind: text('kind').notNull(),
    /** A condition as defined in alerts/condition.ts. */
    condition: jsonb('condition').notNull(),
    enabled: boolean('enabled').notNull(),
    /** An episode closes once its condition has not held for this long. */
    resolveAfterSeconds: integer('resolve_after_seconds').notNull(),
    /** The host to which messages are sent, shown to people; NULL: none. */
    webhookHost: text('webhook_host'),
    /** The shape of its messages, as in alerts/message-format.ts; NULL: `tollgate`. */
    webhookFormat: text('webhook_format'),
    /** Webhook address and signing keys, sealed for this id; NULL if `webhook_host` is NULL. */
    webhookSealed: bytea('webhook_sealed'),
    /** Increased by each change, so that evaluations of an older version are ignored. */
    version: integer('version').notNull().default(1),
    evaluatedAt: moment('evaluated_at'),
    createdAt: moment('created_at').notNull(),
    /** The row is kept for a while so that its last messages are sent. */
    deletedAt: moment('deleted_at'),
  },
  (t) => [index('alert_rules_tenant').on(t.tenantId, t.id)],
)

/** The periods during which a rule's condition held for a subject. */
export const alertEpisodes = pgTable(
  'alert_episodes',
  {
    /** A uuidv7, so ids are in order of opening. */
    id: uuid('id').primaryKey(),
    ruleId: uuid('rule_id').notNull(),
    /** The rule's name at that time. */
    ruleName: text('rule_name').notNull(),
    kind: text('kind').notNull(),
    /** The tenant of the rule. */
    tenantId: uuid('tenant_id'),
    /** Distinguishes the episodes of a rule. */
    subject: text('subject').notNull(),
    /** The subject's name for people. */
    name: text('name').notNull(),
    openedAt: moment('opened_at').notNull(),
    /** NULL: the episode is open. */
    closedAt: moment('closed_at'),
    lastHeldAt: moment('last_held_at').notNull(),
    /** NULL: the condition held at the last evaluation. */
    unheldSince: moment('unheld_since'),
    /** The summary at the opening. */
    summary: text('summary').notNull(),
    /** The newest value. */
    value: text('value').notNull(),
    details: jsonb('details').notNull(),
    acknowledgedAt: moment('acknowledged_at'),
    acknowledgedBy: text('acknowledged_by'),
  },
  (t) => [
    // One open episode per subject, whichever process opens it.
    uniqueIndex('alert_episodes_open').on(t.ruleId, t.subject).where(sql`${t.closedAt} is null`),
    index('alert_episodes_rule').on(t.ruleId, t.id),
    index('alert_episodes_tenant').on(t.tenantId, t.id),
    index('alert_episodes_closed').on(t.closedAt),
  ],
)

/** The webhook messages of episodes, written by the statement of each transition. */
export const alertMessages = pgTable(
  'alert_messages',
  {
    episodeId: uuid('episode_id')
      .notNull()
      .references(() => alertEpisodes.id, { onDelete: 'cascade' }),
    event: text('event', { enum: ['opened', 'closed'] }).notNull(),
    ruleId: uuid('rule_id').notNull(),
    /** The message text. */
    summary: text('summary').notNull(),
    value: text('value').notNull(),
    createdAt: moment('created_at').notNull(),
    state: text('state', { enum: ['pending', 'delivered', 'failed'] }).notNull(),
    tries: smallint('tries').notNull().default(0),
    /** Why the last attempt failed. */
    problem: text('problem'),
    /** When the next attempt is due. */
    dueAt: moment('due_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.episodeId, t.event] }),
    index('alert_messages_due').on(t.dueAt).where(sql`${t.state} = 'pending'`),
  ],
)

/** The networks from which keys were used in the last 90 days. */
export const keyNetworks = pgTable(
  'key_networks',
  {
    keyId: uuid('key_id').notNull(),
    network: text('network').notNull(),
    /** The address of the first request from the network. */
    address: text('address').notNull(),
    firstRequestAt: moment('first_request_at').notNull(),
    /** When the network was recorded. */
    notedAt: moment('noted_at').notNull(),
    lastRequestAt: moment('last_request_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.network] }),
    index('key_networks_noted').on(t.notedAt),
    index('key_networks_last').on(t.lastRequestAt),
  ],
)

/** The last use of each key, for sorting the list of keys. */
export const keyUses = pgTable('key_uses', {
  keyId: uuid('key_id').primaryKey(),
  lastUsedAt: moment('last_used_at').notNull(),
  lastNetwork: text('last_network').notNull(),
  /** The most recently added network. NULL: the key has been used from one network only. */
  newNetwork: text('new_network'),
  /** The time of the first request from it. */
  newNetworkAt: moment('new_network_at'),
})

/** How far scans of the usage log have progressed. */
export const alertScans = pgTable('alert_scans', {
  name: text('name').primaryKey(),
  /** The id of the last scanned row. */
  lastId: uuid('last_id').notNull(),
})

/** What each process reports about its ledger, while an alert rule needs it. */
export const ledgerReports = pgTable('ledger_reports', {
  instanceId: uuid('instance_id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  /** The age of the oldest part of its journal that has not been shipped to Postgres. */
  oldestMs: integer('oldest_ms').notNull(),
  setAside: integer('set_aside').notNull(),
  reportedAt: moment('reported_at').notNull(),
})

/**
 * The files of the archive, one row per Parquet file with rows of one table and one day (UTC). A day has
 * several files if rows arrived late or a file was rewritten.
 */
export const archivedDays = pgTable(
  'archived_days',
  {
    day: date('day').notNull(),
    /** The source table of the rows: `requests`, `attempts`, `request_payloads` or `request_answers`. */
    tableName: text('table_name').notNull(),
    /** Starts at 0. No two attempts to write a file have the same number. */
    part: integer('part').notNull(),
    /**
     * `writing`: the file may exist, complete or not. `verified`: it is complete, and Postgres still has its
     * rows. `dropped`: only the archive has its rows. `abandoned`: the file must not be read and will be
     * deleted.
     */
    state: text('state', { enum: ['writing', 'verified', 'dropped', 'abandoned'] }).notNull(),
    /** The name below the archive's directory or prefix; NULL: there are no rows and therefore no file. */
    location: text('location'),
    rows: bigint('rows', { mode: 'number' }),
    /** For each column, the count and the sum of its values, as computed by archive_sums(). */
    sums: jsonb('sums'),
    bytes: bigint('bytes', { mode: 'number' }),
    /** The checksum of the file, in hexadecimal. */
    sha256: text('sha256'),
    /** The times of its first and last row. */
    firstAt: moment('first_at'),
    lastAt: moment('last_at'),
    startedAt: moment('started_at').notNull(),
    verifiedAt: moment('verified_at'),
    droppedAt: moment('dropped_at'),
    abandonedAt: moment('abandoned_at'),
    /** Why it was abandoned. */
    error: text('error'),
  },
  (t) => [primaryKey({ columns: [t.tableName, t.day, t.part] })],
)

/**
 * Jobs that erase the content or rows of a tenant or of one of its end users. They run one at a time, oldest
 * first.
 */
export const erasures = pgTable(
  'erasures',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    /** NULL: all of the tenant's data, or the job has ended, which also removes the name here. */
    endUser: text('end_user'),
    /** SHA-256 of the end user's name; NULL: all of the tenant's data. */
    endUserHash: bytea('end_user_hash'),
    what: text('what', { enum: ['content', 'rows'] }).notNull(),
    /** Inclusive; NULL: from the first row. */
    fromAt: moment('from_at'),
    /** Exclusive. */
    toAt: moment('to_at').notNull(),
    /** Whether it only counts and changes nothing. */
    dryRun: boolean('dry_run').notNull(),
    /** `waiting`: for requests to end and journals to be shipped; `waitsFor` names the cause. */
    state: text('state', { enum: ['queued', 'running', 'waiting', 'succeeded', 'cancelled'] }).notNull(),
    /** Who requested it. */
    actor: text('actor').notNull(),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    endedAt: moment('ended_at'),
    /** Until then, it belongs to the process working on it. */
    leasedUntil: moment('leased_until'),
    /** Increased by each lease, so that a process with an older one stops. */
    fence: bigint('fence', { mode: 'number' }).notNull().default(0),
    /** Completed passes over the rows. The last one found nothing. */
    passes: smallint('passes').notNull().default(0),
    /**
     * The position of the pass: a partition and the last row processed in it. NULL: the pass has not begun.
     */
    placeTable: text('place_table'),
    placeAt: moment('place_at'),
    placeId: uuid('place_id'),
    /** Counts by kind, updated in the transaction that removes something. */
    counts: jsonb('counts').$type<Record<string, number>>().notNull(),
    /** The counts at the end of the previous pass; NULL: no pass has ended. */
    countsBefore: jsonb('counts_before').$type<Record<string, number>>(),
    waitsFor: text('waits_for'),
    /** Why it could not continue. It will be retried. */
    error: text('error'),
    /** Places that it could not reach, for the report. */
    notReached: jsonb('not_reached').$type<string[]>().notNull(),
  },
  (t) => [index('erasures_created_at').on(t.createdAt)],
)

/**
 * Sums of usage log rows that were deleted while their day is still kept, by an erasure or because of a
 * shorter retention of their tenant. They let the sums and charges of such days still add up. Same format as
 * `rollup_deltas`; rows of older days are summed by hour.
 */
export const deletedSums = pgTable(
  'deleted_sums',
  {
    minute: moment('minute').notNull(),
    tenantId: uuid('tenant_id'),
    keyId: uuid('key_id'),
    groupId: uuid('group_id'),
    model: text('model'),
    channel: text('channel'),
    outcome: text('outcome').notNull(),
    rows: bigint('rows', { mode: 'bigint' }).notNull(),
    requests: bigint('requests', { mode: 'bigint' }).notNull(),
    inputTokens: bigint('input_tokens', { mode: 'bigint' }).notNull(),
    cacheReadTokens: bigint('cache_read_tokens', { mode: 'bigint' }).notNull(),
    cacheWriteTokens: bigint('cache_write_tokens', { mode: 'bigint' }).notNull(),
    outputTokens: bigint('output_tokens', { mode: 'bigint' }).notNull(),
    reasoningTokens: bigint('reasoning_tokens', { mode: 'bigint' }).notNull(),
    images: bigint('images', { mode: 'bigint' }).notNull(),
    cost: numeric('cost_nano').notNull(),
    unpriced: bigint('unpriced', { mode: 'bigint' }).notNull(),
    totalLatency: numeric('total_latency').notNull(),
    firstTokenLatency: numeric('first_token_latency').notNull(),
    uncharged: numeric('uncharged_nano').notNull().default('0'),
  },
  (t) => [index('deleted_sums_minute').on(t.minute)],
)

/** How far the days of tenants with their own retention have been swept, in Postgres and in the archive. */
export const tenantSweeps = pgTable(
  'tenant_sweeps',
  {
    tenantId: uuid('tenant_id').notNull(),
    kind: text('kind', {
      enum: ['rows', 'bodies', 'answers', 'archived_rows', 'archived_bodies', 'archived_answers'],
    }).notNull(),
    /** This day and all earlier ones are done. */
    through: date('through').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind] })],
)
