import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import {
  channelIn,
  rowsToChange,
  type StoredChannel,
  storedChannel,
  writeChannel,
} from '../../catalog/change-entries.ts'
import { checkChannel } from '../../catalog/check-entry.ts'
import { channelEntry } from '../../catalog/gateway-file.ts'
import { mergePatch } from '../../catalog/merge-patch.ts'
import { boundPrivate } from '../../catalog/private-bounds.ts'
import {
  type AllRows,
  disableChannels,
  readAllRows,
  setChannelDisabled,
  type Transaction,
} from '../../catalog/queries.ts'
import type { TimeoutBounds } from '../../catalog/read-connection.ts'
import { referrersOfChannel } from '../../catalog/referrers.ts'
import type { Database } from '../../db/database.ts'
import type { SecretKeeper } from '../../secrets/secret-key.ts'
import { oneOfWords, text } from '../parameter.ts'
import { channelAnswer, channelEtag, channelJson } from './channel-json.ts'
import { type AdminChange, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, pageSchema } from './list.ts'
import { type ManagedContext, refuseManaged } from './managed.ts'
import { hasPart, pageIn } from './page-in.ts'
import { conflict, notFound } from './refusals.ts'
import { yesOrNo } from './setting-schema.ts'
import { membersSchema, patchOf } from './words.ts'

export interface AdminChannelsContext extends ManagedContext {
  database: Pick<Database, 'admin' | 'reads'>
  keeper: SecretKeeper
  bounds: TimeoutBounds
  config: { privateAddresses?: readonly string[] | undefined }
}

export const channelPath = z.object({ id: z.string().describe('The id or the name of the channel.') })
const channelList = pageSchema(channelAnswer).meta({ id: 'ChannelList' })
const deleted = z.object({ id: z.uuid(), deleted: z.literal(true) }).meta({ id: 'DeletedChannel' })
const states = ['enabled', 'disabled', 'deleted'] as const

/** Channels: the upstreams to which requests are sent. */
export function channelsEndpoints(context: AdminChannelsContext): AdminEndpoint[] {
  return [
    channelListEndpoint(context),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/channels/{id}',
      area: 'catalog',
      summary: 'Get a channel',
      params: channelPath,
      answer: channelAnswer,
      async handle({ params: { id } }) {
        const stored = await readChannel(context, id)
        return { body: channelJson(stored), etag: channelEtag(stored) }
      },
    }),
    newChannelEndpoint(context),
    adminChange({
      method: 'PATCH',
      path: '/admin/v1/channels/{id}',
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Update a channel',
      description:
        'A JSON merge patch (RFC 7396) of the settings in the format of gateway.yaml. Absent settings stay unchanged; null restores the default.',
      params: channelPath,
      body: patchOf(channelEntry, 'ChannelPatch'),
      answer: channelAnswer,
      async change({ tx, params: { id }, body, requireMatch, audit }) {
        const change = await channelToChange(tx, context, id, requireMatch)
        return await changeChannel(tx, context, change, patched(change.stored.words, body), audit)
      },
    }),
    ...switchEndpoints(context),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/channels/{id}',
      area: 'catalog',
      ifMatch: 'channel',
      summary: 'Delete a channel, erasing its credentials and offers',
      description:
        'The channel is disabled. Its requests stay in the usage log under its name, which a new channel can use again.',
      params: channelPath,
      answer: deleted,
      async change({ tx, params: { id }, requireMatch, audit }) {
        const { stored, rows } = await channelToChange(tx, context, id, requireMatch)
        refuseReferred(rows, stored)
        const before = channelJson(stored)
        await disableChannels(tx, [stored.row.id])
        await audit({
          action: 'channel.delete',
          resource: 'channel',
          id: stored.row.id,
          name: stored.row.name,
          before,
        })
        return { body: { id: stored.row.id, deleted: true as const } }
      },
    }),
  ]
}

function channelListEndpoint({ database, keeper }: AdminChannelsContext): AdminEndpoint {
  return adminEndpoint({
    method: 'GET',
    path: '/admin/v1/channels',
    area: 'catalog',
    summary: 'List channels',
    query: z.strictObject({
      ...listParameters(['name', 'priority']),
      state: oneOfWords(states).optional().describe('Default: all channels that are not deleted.'),
      managed_by: oneOfWords(['file', 'admin']).optional(),
      blocked: yesOrNo.optional().describe('Whether a person has blocked the channel.'),
      model: text.optional().describe('Only channels that offer this model by its name.'),
      search: text.optional().describe('Part of the name, case-insensitive.'),
    }),
    answer: channelList,
    async handle({ query }) {
      const rows = await database.reads.ask(({ db }) => readAllRows(db))
      const all = rows.channels.map((row) => channelJson(storedChannel(row, rows, keeper)))
      const { state, managed_by, blocked, model, search } = query
      const wanted = all.filter(
        (one) =>
          (state === undefined ? one.state !== 'deleted' : one.state === state) &&
          (managed_by === undefined || one.managed_by === managed_by) &&
          (blocked === undefined || (one.blocked !== null) === blocked) &&
          hasPart(one.name, search) &&
          (model === undefined || (one.models !== '*' && Object.hasOwn(one.models, model))),
      )
      return { body: pageIn(wanted, query, (one, by) => (by === 'priority' ? one.priority : one.name)) }
    },
  })
}

function newChannelEndpoint(context: AdminChannelsContext): AdminEndpoint {
  const { keeper, bounds, config } = context
  return adminChange({
    method: 'POST',
    path: '/admin/v1/channels',
    area: 'catalog',
    summary: 'Create a channel',
    description:
      'The body has the format of an entry of `channels` in gateway.yaml. The channel serves requests within a second.',
    body: membersSchema(channelEntry, 'ChannelRequest'),
    statuses: [201],
    answer: channelAnswer,
    async change({ tx, body, audit }) {
      const rows = await rowsToChange(tx)
      const former = rows.channels.find(({ name }) => name === body.name)
      if (former !== undefined && !isGone(storedChannel(former, rows, keeper))) throw taken(former)
      const checked = checkChannel(body, rows, { name: former?.name, bounds })
      const channel = boundPrivate(checked, config.privateAddresses)
      const existing = former && { ...former, disabledAt: null }
      const id = await writeChannel(tx, channel, { existing, keeper, isAddressBounded: true })
      return { status: 201, ...(await audited(audit, 'make', undefined, await readAgain(tx, context, id))) }
    },
  })
}

function switchEndpoints(context: AdminChannelsContext): AdminEndpoint[] {
  const { bounds } = context
  return [
    { verb: 'enable' as const, summary: 'Enable a channel' },
    {
      verb: 'disable' as const,
      summary: 'Disable a channel, so that it receives no requests but keeps its settings',
    },
  ].map(({ verb, summary }) =>
    adminChange({
      method: 'POST',
      path: `/admin/v1/channels/{id}/${verb}`,
      area: 'catalog',
      ifMatch: 'channel',
      summary,
      params: channelPath,
      answer: channelAnswer,
      async change({ tx, params: { id }, requireMatch, audit }) {
        const { stored, rows } = await channelToChange(tx, context, id, requireMatch)
        const before = channelJson(stored)
        if (before.state === 'deleted') throw deletedChannel(stored)
        // Entries that it refers to may have been deleted in the meantime.
        if (verb === 'enable') checkChannel(stored.words, rows, { name: stored.row.name, bounds })
        await setChannelDisabled(tx, stored.row.id, verb === 'disable')
        return await audited(audit, verb, before, await readAgain(tx, context, stored.row.id))
      },
    }),
  )
}

/** Returns a channel by its id or name. Throws `unknown_path`. */
export async function readChannel(
  { database, keeper }: Pick<AdminChannelsContext, 'database' | 'keeper'>,
  id: string,
): Promise<StoredChannel> {
  const rows = await database.reads.ask(({ db }) => readAllRows(db))
  return foundChannel(rows, id, keeper)
}

export function foundChannel(rows: AllRows, id: string, keeper: SecretKeeper): StoredChannel {
  const row =
    rows.channels.find((one) => one.id === id.toLowerCase()) ?? rows.channels.find(({ name }) => name === id)
  const stored = row && channelIn(rows, row.id, keeper)
  if (stored === undefined) throw notFound('channel with this id or name')
  return stored
}

/**
 * Reads a channel in order to change it, together with all rows, which are locked. Throws if it is managed by
 * gateway.yaml, unless `ofFile`.
 */
export async function channelToChange(
  tx: AdminChange['tx'],
  context: AdminChannelsContext,
  id: string,
  requireMatch: AdminChange['requireMatch'],
  { ofFile = false } = {},
): Promise<{ stored: StoredChannel; rows: AllRows }> {
  const rows = await rowsToChange(tx)
  const stored = foundChannel(rows, id, context.keeper)
  if (!ofFile) await refuseManaged(tx, context, stored.row, { kind: 'channel', name: stored.row.name })
  requireMatch(channelEtag(stored))
  return { stored, rows }
}

/** Checks new settings and writes them, with a line in the audit log. */
export async function changeChannel(
  tx: Transaction,
  context: AdminChannelsContext,
  { stored, rows }: { stored: StoredChannel; rows: AllRows },
  words: Json,
  audit: AdminChange['audit'],
) {
  const { keeper, bounds, config } = context
  const { row } = stored
  if (isGone(stored)) throw deletedChannel(stored)
  const checked = checkChannel(words, rows, { name: row.name, bounds })
  // A channel created before PRIVATE_ADDRESSES was set keeps working as long as its upstream does not change.
  const isSamePlace = placeWords.every((name) => isDeepStrictEqual(words[name], stored.words[name]))
  const channel = isSamePlace ? checked : boundPrivate(checked, config.privateAddresses)
  if (channel.name !== row.name) {
    if (rows.channels.some(({ name }) => name === channel.name)) throw taken({ name: channel.name })
    refuseReferred(rows, stored)
  }
  const isAddressBounded = row.isAddressBounded || !isSamePlace
  await writeChannel(tx, channel, { existing: row, keeper, isAddressBounded })
  return await audited(audit, 'change', channelJson(stored), await readAgain(tx, context, row.id))
}

/** The settings that determine a channel's upstream and its permitted private addresses. */
const placeWords = ['protocols', 'base_url', 'proxy', 'allow_private_address'] as const

/**
 * New base URLs replace the old ones. The stored settings always contain base URLs, even if the admin only
 * stated a vendor.
 */
function patched(words: Json, patch: Json): Json {
  const isElsewhere = patch.protocols === undefined && typeof patch.base_url === 'string'
  const { protocols, ...others } = words
  return mergePatch(isElsewhere ? others : { ...others, protocols }, patch)
}

export async function readAgain(tx: Transaction, { keeper }: AdminChannelsContext, id: string) {
  return foundChannel(await readAllRows(tx), id, keeper)
}

export async function audited(
  audit: AdminChange['audit'],
  verb: 'make' | 'change' | 'enable' | 'disable' | 'block' | 'unblock',
  before: z.output<typeof channelAnswer> | undefined,
  stored: StoredChannel,
) {
  const after = channelJson(stored)
  const { id, name } = after
  await audit({
    action: `channel.${verb}`,
    resource: 'channel',
    id,
    name,
    ...(before !== undefined && { before }),
    after,
  })
  return { body: after, etag: channelEtag(stored) }
}

function refuseReferred(rows: AllRows, { row }: StoredChannel): void {
  const [referrer] = referrersOfChannel(rows, row.name)
  if (referrer !== undefined)
    throw conflict(
      `${referrer} refers to channel "${row.name}". Remove the reference first.`,
      undefined,
      'in_use',
    )
}

/** True for a channel that was removed from gateway.yaml or deleted, so that its name is free. */
function isGone({ row, credentials }: StoredChannel): boolean {
  return row.disabledAt !== null && (row.managedBy === 'file' || credentials?.length === 0)
}

function taken({ name }: { name: string }) {
  return conflict(
    `name: there is already a channel "${name}". Change that one or choose another name.`,
    'name',
    'name_taken',
  )
}

function deletedChannel({ row }: StoredChannel) {
  return conflict(`Channel "${row.name}" is deleted. Create a new one, which can have the same name.`)
}
