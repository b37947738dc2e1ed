import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  sql,
  text,
  uniqueIndex,
  uuid,
} from './drizzle.cjs'
import { bytea, moment } from './schema-types.ts'

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
    /** An episode closes when its condition has not held for so long. */
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

/** What each process says of its ledger, while there is a rule that asks. */
export const ledgerReports = pgTable('ledger_reports', {
  instanceId: uuid('instance_id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  /** Age of the oldest part of its journal that Postgres does not have. */
  oldestMs: integer('oldest_ms').notNull(),
  setAside: integer('set_aside').notNull(),
  reportedAt: moment('reported_at').notNull(),
})
