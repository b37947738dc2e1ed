import { index, pgTable, primaryKey, text, uuid } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * Every name that a tenant, a key or a group has had. Rows of the usage log have ids, and are shown under the
 * name of their time, also when what they belong to has been renamed or deleted since. Triggers of the three
 * tables write it.
 */
export const names = pgTable(
  'names',
  {
    kind: text('kind', { enum: ['tenant', 'key', 'group'] }).notNull(),
    id: uuid('id').notNull(),
    /** NULL: it was deleted at `since`. */
    name: text('name'),
    /** The epoch for names that are older than this table. */
    since: moment('since').notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.id, t.since] }), index('names_name').on(t.kind, t.name)],
)
