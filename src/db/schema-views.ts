import { boolean, index, jsonb, pgTable, sql, text, uuid } from './drizzle.cjs'
import { tenants } from './schema-access.ts'
import { moment } from './schema-types.ts'

/**
 * Filters of a page that people keep. Each belongs to one user; a shared one is shown to the others of its
 * tenant too.
 */
export const savedViews = pgTable(
  'saved_views',
  {
    id: uuid('id').primaryKey(),
    /** The nil UUID: the operator, who has ADMIN_TOKEN. */
    userId: uuid('user_id').notNull(),
    /** The name then, for people. */
    userName: text('user_name').notNull(),
    /** Whose page it is: a tenant's, or NULL for that of operators, which has all tenants. */
    tenantId: uuid('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    /** The page of the console, such as `log`. */
    page: text('page').notNull(),
    /** Parameters of the page by name: a text, or a list of texts. */
    query: jsonb('query').notNull(),
    shared: boolean('shared').notNull().default(false),
    createdAt: moment('created_at').notNull(),
    changedAt: moment('changed_at').notNull(),
  },
  (t) => [
    index('saved_views_user').on(t.userId, t.page),
    index('saved_views_shared').on(t.tenantId, t.page).where(sql`${t.shared}`),
  ],
)
