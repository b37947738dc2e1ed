import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import { type GroupEntry, groupEntry, groupSettings } from '../../catalog/gateway-file.ts'
import { deleteGroups, groupsInUse, holdCharges, lockRows } from '../../catalog/queries.ts'
import type { Database } from '../../db/database.ts'
import { settingsOfGroups } from '../../db/settings/group-settings.ts'
import { toRow } from '../../db/settings/setting.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { groupJson, groupShown } from './group-json.ts'
import {
  addGroup,
  changeGroup,
  findGroup,
  type GroupRow,
  listGroups,
  lockGroup,
  readNames,
} from './group-queries.ts'
import { requireChannels, requireModels, requireSummaries } from './known-names.ts'
import { listParameters, orderOf, pageOf, pageSchema, rowPlaceAt } from './list.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'
import { conflict, notFound } from './refusals.ts'
import { merged, settingBody } from './setting-body.ts'
import { budgetMs, calledParams, deletedAnswer, nameFilters, yesOrNo } from './setting-schema.ts'

export interface AdminGroupsContext extends ManagedContext {
  database: Pick<Database, 'reads'>
}

/** Key groups: what their keys can use, and at what price. */
export function groupsEndpoints(context: AdminGroupsContext): AdminEndpoint[] {
  const { database } = context
  return [
    groupListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/groups/{id}',
      area: 'catalog',
      summary: 'Get a group',
      params: calledParams,
      answer: groupShown,
      async handle({ params: { id }, signal }) {
        const row = await database.reads.ask(({ db }) => findGroup(db, id), { owner: 'admin', signal })
        if (row === undefined) throw notFound('such group')
        const shown = groupJson(row)
        return { body: shown, etag: etagOf(shown) }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/groups',
      area: 'catalog',
      summary: 'Create a group',
      body: settingBody(groupSettings, { id: 'NewGroup', required: ['name'] }),
      statuses: [201],
      answer: groupShown,
      async change({ tx, body, audit }) {
        const entry = merged(groupEntry, {}, body)
        await lockRows(tx)
        await requireFreeName(context, tx, entry.name, undefined)
        await requireNames(tx, entry, undefined)
        const { name } = entry
        const settings = toRow(settingsOfGroups, entry)
        const row = await addGroup(tx, { id: randomUUIDv7(), name, ...settings, managedBy: 'admin' })
        const shown = groupJson(row)
        await audit({ action: 'group.make', resource: 'group', id: row.id, name: row.name, after: shown })
        return { status: 201, body: shown, etag: etagOf(shown) }
      },
    }),
    groupChangeEndpoint(context),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/groups/{id}',
      area: 'catalog',
      ifMatch: 'group',
      summary: 'Delete a group without keys',
      params: calledParams,
      answer: deletedAnswer,
      async change({ tx, params: { id }, requireMatch, audit }) {
        await lockRows(tx)
        const row = await requireGroup(tx, id)
        const before = groupJson(row)
        requireMatch(etagOf(before))
        await refuseManaged(tx, context, row, { kind: 'group', name: row.name })
        if ((await groupsInUse(tx, [row.id])).size > 0)
          throw conflict(
            `There are keys in the group "${row.name}" (including disabled and revoked ones). Move them to another group first.`,
            undefined,
            'in_use',
          )
        await deleteGroups(tx, [row.id])
        await audit({ action: 'group.delete', resource: 'group', id: row.id, name: row.name, before })
        return { body: { id: row.id, deleted: true as const } }
      },
    }),
  ]
}

function groupListEndpoint({ database }: AdminGroupsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/groups',
    area: 'catalog',
    summary: 'List groups',
    query: z.strictObject({
      ...listParameters(['name', 'created_at']),
      ...nameFilters,
      public: yesOrNo.optional(),
    }),
    answer: pageSchema(groupShown).meta({ id: 'GroupList' }),
    async handle({ query: { limit, cursor, sort, ...filter }, signal }) {
      const order = orderOf(sort)
      const rows = await database.reads.ask(
        ({ db }) => listGroups(db, { ...filter, order, after: rowPlaceAt(sort, cursor), limit: limit + 1 }),
        { owner: 'admin', signal },
      )
      const page = pageOf(rows, { limit, sort }, ({ id, name }) => ({
        value: order.by === 'name' ? name : null,
        id,
      }))
      return { body: { ...page, data: page.data.map(groupJson) } }
    },
  })
}

function groupChangeEndpoint(context: AdminGroupsContext): AdminEndpoint {
  return adminChange({
    method: 'PATCH',
    path: '/admin/v1/groups/{id}',
    area: 'catalog',
    ifMatch: 'group',
    summary: 'Update a group',
    withinMs: budgetMs,
    description: 'Absent settings stay unchanged; null restores the default.',
    params: calledParams,
    body: settingBody(groupSettings, { id: 'GroupChange' }),
    answer: groupShown,
    async change({ tx, params: { id }, body, requireMatch, audit }) {
      await lockRows(tx)
      // One of the budgets may be new; see holdCharges.
      if (body.budget !== undefined && body.budget !== null) await holdCharges(tx)
      const row = await requireGroup(tx, id)
      const before = groupJson(row)
      requireMatch(etagOf(before))
      await refuseManaged(tx, context, row, { kind: 'group', name: row.name })
      const entry = merged(groupEntry, settingsIn(before), body)
      await requireFreeName(context, tx, entry.name, row.id)
      await requireNames(tx, entry, row)
      const after = groupJson(
        await changeGroup(tx, row.id, { name: entry.name, ...toRow(settingsOfGroups, entry) }),
      )
      await audit({
        action: 'group.change',
        resource: 'group',
        id: row.id,
        name: entry.name,
        before,
        after,
      })
      return { body: after, etag: etagOf(after) }
    },
  })
}

async function requireGroup(tx: TypedTransaction, called: string): Promise<GroupRow> {
  const row = await lockGroup(tx, called)
  if (row === undefined) throw notFound('such group')
  return row
}

/** Picks the settings from a group as shown by the API. */
function settingsIn(shown: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(groupSettings.shape).map((name) => [name, shown[name]]))
}

async function requireFreeName(
  context: AdminGroupsContext,
  tx: TypedTransaction,
  name: string,
  ownId: string | undefined,
): Promise<void> {
  const [other] = await listGroups(tx, {
    name,
    order: { by: 'name', descending: false },
    after: undefined,
    limit: 1,
  })
  if (other === undefined || other.id === ownId) return
  await refuseManaged(tx, context, other, { kind: 'group', name })
  throw conflict(`There is already a group "${name}". Choose another name.`, 'name', 'name_taken')
}

async function requireNames(
  tx: TypedTransaction,
  { models, channels, compactModel }: GroupEntry,
  before: GroupRow | undefined,
): Promise<void> {
  const names = await readNames(tx)
  requireModels(names, { field: 'models', wanted: models, before: before?.models ?? [] })
  if (compactModel !== undefined) requireSummaries(names, models, compactModel)
  requireChannels(names, { field: 'channels', wanted: channels, before: before?.channels ?? [] })
}
