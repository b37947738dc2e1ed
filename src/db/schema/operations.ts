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

/** Rules of alerts. */
export const alertRules = pgTable(
  'alert_rules',
  {
    id: uuid('id').primaryKey(),
    /** NULL: of the operators, over all tenants. */
    tenantId: uuid('tenant_id'),
    name: text('name').notNull(),
    kind: text('kind').notNull(),
    /** A condition of alerts/condition.ts. */
    condition: jsonb('condition').notNull(),
    enabled: boolean('enabled').notNull(),
    /** An episode closes when its condition has not held for this long. */
    resolveAfterSeconds: integer('resolve_after_seconds').notNull(),
    /** Where messages go, for people; NULL: nowhere. */
    webhookHost: text('webhook_host'),
    /** Address and signing keys, sealed for this id; NULL with `webhook_host`. */
    webhookSealed: bytea('webhook_sealed'),
    /** Each change raises it: what was evaluated for an older version does not count. */
    version: integer('version').notNull().default(1),
    evaluatedAt: moment('evaluated_at'),
    createdAt: moment('created_at').notNull(),
    /** The row stays for a while, so that its last messages are sent. */
    deletedAt: moment('deleted_at'),
  },
  (t) => [index('alert_rules_tenant').on(t.tenantId, t.id)],
)

/** The times in which a rule's condition held for one subject. */
export const alertEpisodes = pgTable(
  'alert_episodes',
  {
    /** uuidv7: in the order of opening. */
    id: uuid('id').primaryKey(),
    ruleId: uuid('rule_id').notNull(),
    /** Then. */
    ruleName: text('rule_name').notNull(),
    kind: text('kind').notNull(),
    /** Of the rule. */
    tenantId: uuid('tenant_id'),
    /** Tells the episodes of one rule apart. */
    subject: text('subject').notNull(),
    /** The subject for people. */
    name: text('name').notNull(),
    openedAt: moment('opened_at').notNull(),
    /** NULL: open. */
    closedAt: moment('closed_at'),
    lastHeldAt: moment('last_held_at').notNull(),
    /** NULL: the condition held when it was evaluated last. */
    unheldSince: moment('unheld_since'),
    /** At the opening. */
    summary: text('summary').notNull(),
    /** The newest. */
    value: text('value').notNull(),
    details: jsonb('details').notNull(),
    acknowledgedAt: moment('acknowledged_at'),
    acknowledgedBy: text('acknowledged_by'),
  },
  (t) => [
    // One open episode for each subject, whichever process opens it.
    uniqueIndex('alert_episodes_open').on(t.ruleId, t.subject).where(sql`${t.closedAt} is null`),
    index('alert_episodes_rule').on(t.ruleId, t.id),
    index('alert_episodes_tenant').on(t.tenantId, t.id),
    index('alert_episodes_closed').on(t.closedAt),
  ],
)

/** The webhooks of episodes. The statement of a transition writes them. */
export const alertMessages = pgTable(
  'alert_messages',
  {
    episodeId: uuid('episode_id')
      .notNull()
      .references(() => alertEpisodes.id, { onDelete: 'cascade' }),
    event: text('event', { enum: ['opened', 'closed'] }).notNull(),
    ruleId: uuid('rule_id').notNull(),
    /** What it says. */
    summary: text('summary').notNull(),
    value: text('value').notNull(),
    createdAt: moment('created_at').notNull(),
    state: text('state', { enum: ['pending', 'delivered', 'failed'] }).notNull(),
    tries: smallint('tries').notNull().default(0),
    /** Why the last try failed. */
    problem: text('problem'),
    /** When the next try is due. */
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
    /** The address of the first request. */
    address: text('address').notNull(),
    firstRequestAt: moment('first_request_at').notNull(),
    /** When we noted it. */
    notedAt: moment('noted_at').notNull(),
    lastRequestAt: moment('last_request_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.network] }),
    index('key_networks_noted').on(t.notedAt),
    index('key_networks_last').on(t.lastRequestAt),
  ],
)

/** The last use of each key, as the list of keys sorts by it. */
export const keyUses = pgTable('key_uses', {
  keyId: uuid('key_id').primaryKey(),
  lastUsedAt: moment('last_used_at').notNull(),
  lastNetwork: text('last_network').notNull(),
  /** The network that was new last. Null: the key was used from one network only. */
  newNetwork: text('new_network'),
  /** The first request from it. */
  newNetworkAt: moment('new_network_at'),
})

/** How far scans of the usage log have come. */
export const alertScans = pgTable('alert_scans', {
  name: text('name').primaryKey(),
  /** Id of the last row. */
  lastId: uuid('last_id').notNull(),
})

/** What each process says about its ledger, while there is a rule that asks. */
export const ledgerReports = pgTable('ledger_reports', {
  instanceId: uuid('instance_id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  /** Age of the oldest part of its journal that Postgres does not have. */
  oldestMs: integer('oldest_ms').notNull(),
  setAside: integer('set_aside').notNull(),
  reportedAt: moment('reported_at').notNull(),
})

/**
 * The files of the archive: one row for each Parquet file, which has rows of one table and one day (UTC). A
 * day has more than one file when rows came late, or when a file was rewritten.
 */
export const archivedDays = pgTable(
  'archived_days',
  {
    day: date('day').notNull(),
    /** The table that the rows come from: `requests`, `attempts`, `request_payloads` or `request_answers`. */
    tableName: text('table_name').notNull(),
    /** From 0. No two attempts to write a file have the same number. */
    part: integer('part').notNull(),
    /**
     * `writing`: the file may exist, whole or not. `verified`: it is whole, and Postgres still has its
     * rows. `dropped`: only the archive has its rows. `abandoned`: the file must not be read, and it is
     * deleted.
     */
    state: text('state', { enum: ['writing', 'verified', 'dropped', 'abandoned'] }).notNull(),
    /** Its name below the archive's directory or prefix; NULL: it has no rows, so there is no file. */
    location: text('location'),
    rows: bigint('rows', { mode: 'number' }),
    /** For each column the count of its values and their sum, as archive_sums() makes them. */
    sums: jsonb('sums'),
    bytes: bigint('bytes', { mode: 'number' }),
    /** Of the file, hexadecimal. */
    sha256: text('sha256'),
    /** The first and the last moment of its rows. */
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
 * Jobs that remove the content, or the rows, of a tenant or of one of its end users. One works at a time, the
 * oldest first.
 */
export const erasures = pgTable(
  'erasures',
  {
    id: uuid('id').primaryKey(),
    tenantId: uuid('tenant_id').notNull(),
    /** NULL: all of the tenant, or the job has ended, which removes the name here too. */
    endUser: text('end_user'),
    /** SHA-256 of the end user; NULL: all of the tenant. */
    endUserHash: bytea('end_user_hash'),
    what: text('what', { enum: ['content', 'rows'] }).notNull(),
    /** Inclusive; NULL: from the first row on. */
    fromAt: moment('from_at'),
    /** Exclusive. */
    toAt: moment('to_at').notNull(),
    /** True: it counts, and changes nothing. */
    dryRun: boolean('dry_run').notNull(),
    /** `waiting`: for requests and shipments; `waitsFor` says for which. */
    state: text('state', { enum: ['queued', 'running', 'waiting', 'succeeded', 'cancelled'] }).notNull(),
    /** Who asked for it. */
    actor: text('actor').notNull(),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    endedAt: moment('ended_at'),
    /** Until then one process works on it. */
    leasedUntil: moment('leased_until'),
    /** Each lease raises it: a process with an older one stops. */
    fence: bigint('fence', { mode: 'number' }).notNull().default(0),
    /** Passes over the rows that have ended. The last one found nothing. */
    passes: smallint('passes').notNull().default(0),
    /**
     * The place of the pass: a partition, and the last row of it that was looked at. NULL: the pass has not
     * begun.
     */
    placeTable: text('place_table'),
    placeAt: moment('place_at'),
    placeId: uuid('place_id'),
    /** Counts by place. The transaction that removes something counts it here. */
    counts: jsonb('counts').$type<Record<string, number>>().notNull(),
    /** Counts at the end of the pass before; NULL: no pass has ended. */
    countsBefore: jsonb('counts_before').$type<Record<string, number>>(),
    waitsFor: text('waits_for'),
    /** Why it could not go on; it tries again. */
    error: text('error'),
    /** What it could not reach, for the report. */
    notReached: jsonb('not_reached').$type<string[]>().notNull(),
  },
  (t) => [index('erasures_created_at').on(t.createdAt)],
)

/**
 * The sums of rows of the usage log that were deleted while their day is kept: by an erasure, or because
 * their tenant keeps rows for fewer days. Sums and charges of such days still add up. In the shape of
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

/** How far the days of tenants with a retention of their own are swept, in Postgres and in the archive. */
export const tenantSweeps = pgTable(
  'tenant_sweeps',
  {
    tenantId: uuid('tenant_id').notNull(),
    kind: text('kind', {
      enum: ['rows', 'bodies', 'answers', 'archived_rows', 'archived_bodies', 'archived_answers'],
    }).notNull(),
    /** This day and all before it are done. */
    through: date('through').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind] })],
)
