import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import {
  addView,
  changeView,
  countViews,
  deleteView,
  findView,
  listViews,
  type SavedView,
  viewerOf,
} from '../../access/view-queries.ts'
import type { Database } from '../../db/database.ts'
import type { Queries } from '../../db/transactions.ts'
import { text } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { listParameters, pageOf, pageSchema, placeAt } from './list.ts'
import { conflict, notAllowed, notFound } from './refusals.ts'

const viewsMax = 200
const valuesMax = 32
const value = z.string().max(1_024)

const fields = z.strictObject({
  name: value.min(1).max(128),
  page: z
    .string()
    .regex(/^[a-z][a-z-]{0,31}$/, { error: 'expected the name of a page such as "log"' })
    .describe('The page of the console, such as `log`.'),
  query: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), z.union([value, z.array(value).max(valuesMax)]))
    .refine((all) => Object.keys(all).length <= 64, { error: 'expected at most 64 parameters' })
    .describe('The parameters of the page. Each value is a string or a list of strings.'),
  shared: z
    .boolean()
    .default(false)
    .describe('Whether everyone in the tenant, or all operators, can see the view.'),
})

const changes = z
  .strictObject({
    ...fields.shape,
    shared: z.boolean(),
  })
  .partial()

const savedView = z
  .object({
    ...fields.shape,
    id: z.uuid(),
    shared: z.boolean(),
    user: z.string().describe('Who created the view, by the name at that time.'),
    own: z.boolean().describe('Whether the view is yours.'),
    changeable: z
      .boolean()
      .describe(
        'Whether you can change and delete the view: it is yours, or it is shared and you are an owner.',
      ),
    tenant_id: z.uuid().nullable(),
    created_at: z.iso.datetime(),
    changed_at: z.iso.datetime(),
  })
  .meta({ id: 'SavedView' })

const params = z.object({ id: z.uuid() })
const path = '/admin/v1/views/{id}'

/** Saved views of a page: its filters under a name. */
export function viewsEndpoints({ database }: { database: Pick<Database, 'admin'> }): AdminEndpoint[] {
  const shown = (view: SavedView, actor: Actor) => {
    const body = viewJson(view, actor)
    return { body, etag: etagOf(body) }
  }
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/views',
      area: 'views',
      tenants: 'own',
      summary: 'List your saved views and those that others share with you',
      query: z.strictObject({ ...listParameters(['created_at']), page: text.optional() }),
      answer: pageSchema(savedView).meta({ id: 'SavedViewList' }),
      async handle({ actor, query: { limit, cursor, sort, page } }) {
        const after = placeAt(sort, cursor)?.id
        const rows = await database.admin.transact((tx) =>
          listViews(tx, actor, { page, after, limit: limit + 1 }),
        )
        const found = pageOf(rows, { limit, sort }, ({ id }) => ({ value: null, id }))
        return { body: { ...found, data: found.data.map((view) => viewJson(view, actor)) } }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/views',
      area: 'views',
      tenants: 'own',
      summary: 'Save a view',
      body: fields.meta({ id: 'NewSavedView' }),
      answer: savedView,
      statuses: [201],
      async change({ tx, actor, body, audit }) {
        if ((await countViews(tx, actor)) >= viewsMax)
          throw conflict(`You already have ${viewsMax} saved views, the maximum per user. Delete one first.`)
        const view = await addView(tx, actor, body)
        const after = viewJson(view, actor)
        await audit({ ...lineOf(view), action: 'view.create', after })
        return { status: 201, ...shown(view, actor) }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path,
      area: 'views',
      tenants: 'own',
      summary: 'Get a saved view',
      params,
      answer: savedView,
      async handle({ actor, params: { id } }) {
        return shown(await database.admin.transact((tx) => requireView(tx, actor, id)), actor)
      },
    }),
    adminChange({
      method: 'PATCH',
      path,
      area: 'views',
      ifMatch: 'view',
      tenants: 'own',
      summary: 'Update a saved view',
      description: 'Others than its user can only change it if they are owners and it is shared.',
      params,
      body: changes.meta({ id: 'SavedViewChanges' }),
      answer: savedView,
      async change({ tx, actor, params: { id }, body, requireMatch, audit }) {
        const view = await requireChangeableView(tx, actor, id)
        const before = viewJson(view, actor)
        requireMatch(etagOf(before))
        const changed = { ...view, ...definedOf(body), changedAt: new Date() }
        await changeView(tx, changed)
        await audit({ ...lineOf(changed), action: 'view.change', before, after: viewJson(changed, actor) })
        return shown(changed, actor)
      },
    }),
    adminChange({
      method: 'DELETE',
      path,
      area: 'views',
      ifMatch: 'view',
      tenants: 'own',
      summary: 'Delete a saved view',
      description:
        'Returns the deleted view. Others than its user can only delete it if they are owners and it is shared.',
      params,
      answer: savedView,
      async change({ tx, actor, params: { id }, requireMatch, audit }) {
        const view = await requireChangeableView(tx, actor, id)
        const before = viewJson(view, actor)
        requireMatch(etagOf(before))
        await deleteView(tx, id)
        await audit({ ...lineOf(view), action: 'view.delete', before })
        return { body: before }
      },
    }),
  ]
}

async function requireView(db: Queries, actor: Actor, id: string, lock = false): Promise<SavedView> {
  const view = await findView(db, actor, id, lock)
  if (view === undefined) throw notFound('such view')
  return view
}

/** The view is locked until the end of the transaction. */
async function requireChangeableView(db: Queries, actor: Actor, id: string): Promise<SavedView> {
  const view = await requireView(db, actor, id, true)
  if (isChangeable(view, actor)) return view
  throw notAllowed(`The view belongs to ${view.userName}. Save your own copy instead.`)
}

/** The actor can see the view: it is its own, or it is shared. */
function isChangeable({ userId }: SavedView, actor: Actor): boolean {
  return userId === viewerOf(actor) || actor.role === 'owner'
}

function lineOf({ id, name, tenantId }: SavedView) {
  return { resource: 'view', id, name, tenantId }
}

function definedOf<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, each]) => each !== undefined))
}

const readQuery = fields.shape.query

function viewJson(view: SavedView, actor: Actor): z.output<typeof savedView> {
  const { id, name, page, shared, tenantId } = view
  return {
    ...{ id, name, page, query: readQuery.parse(view.query), shared },
    user: view.userName,
    own: view.userId === viewerOf(actor),
    changeable: isChangeable(view, actor),
    tenant_id: tenantId,
    created_at: view.createdAt.toISOString(),
    changed_at: view.changedAt.toISOString(),
  }
}
