import { randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Traits } from '../canonical/traits.ts'
import type { SecretKeeper } from '../secret-key.ts'
import { connectionColumns } from './connection.ts'
import {
  byFile,
  type Changes,
  differences,
  type FileChanges,
  noChanges,
  type RowKind,
  type Writing,
} from './file-changes.ts'
import type { ChannelEntry, GatewayFile, GroupEntry, ModelEntry } from './gateway-file.ts'
import { applyLibrary } from './library/apply-library.ts'
import { bundledLibrary } from './library/bundled.ts'
import { providersOf } from './library/providers-of.ts'
import type { LibraryProvider } from './library/read-library.ts'
import { budgetColumns, limitColumns } from './limit-columns.ts'
import { priceRow } from './price-row.ts'
import {
  addPrice,
  type ChannelRow,
  deleteGroups,
  disableChannels,
  disableModels,
  groupsInUse,
  putChannel,
  putGroup,
  putModel,
  readAllRows,
  replaceCredentials,
  replaceOffers,
  type Transaction,
} from './queries.ts'

/**
 * Write the models, channels and groups of a gateway file. Changes only rows that differ. Answers the id of every group by
 * name, what it changed, and `retire`, which disables the rows of an earlier file that this one leaves out, and counts them
 * too. Call `retire` last: until then keys may refer to such groups. For an admin nothing is retired, and a file without prices of
 * its own leaves those of the database alone.
 */
export async function applyCatalog(
  tx: Transaction,
  file: GatewayFile,
  keeper: SecretKeeper,
  writing: Writing = byFile,
) {
  const rows = await readAllRows(tx)
  const changes = { models: noChanges(), channels: noChanges(), groups: noChanges() }
  await applyModels(tx, rows, file.models, { changes: changes.models, writing })
  const providers = await libraryProviders(file)
  await applyChannels(tx, rows, file.channels, { keeper, providers, changes: changes.channels, writing })
  if (writing.managedBy === 'file' || file.prices !== undefined) {
    const others = writing.managedBy === 'file' ? [] : await providersOfRows(rows)
    const inUse = [...others, ...[...providers.values()].flat()].map((one) => [one.id, one] as const)
    await applyLibrary(tx, file.prices, new Map(inUse))
  }
  const groupIds = await applyGroups(tx, rows, file.groups, { changes: changes.groups, writing })
  return { groupIds, changes, retire: () => retire(tx, rows, file, changes) }
}

type Rows = Awaited<ReturnType<typeof readAllRows>>

interface Noting {
  changes: Changes
  writing: Writing
}

async function applyModels(tx: Transaction, rows: Rows, models: ModelEntry[], { changes, writing }: Noting) {
  const rowOf = new Map(rows.models.map((row) => [row.id, row]))
  const priceOf = new Map(rows.prices.map((row) => [row.modelId, row]))
  for (const model of models) {
    const wanted = {
      id: model.id,
      contextLength: model.contextLength ?? null,
      maxOutputTokens: model.maxOutputTokens ?? null,
      aliases: model.aliases,
      fallbacks: model.fallbacks,
      images: model.images ?? null,
      traits: model.traits ?? null,
      disabledAt: null,
      managedBy: writing.managedBy,
    }
    const existing = rowOf.get(model.id)
    if (stays(existing, 'models', model.id, writing)) continue
    const others = differences(existing, wanted)
    const isOther = existing === undefined || others.length > 0
    if (isOther) await putModel(tx, wanted)

    // A model without a price gets a row without one only where an older row has a price.
    const price = priceRow(model.price)
    const newest = priceOf.get(model.id)
    const isRepriced =
      newest === undefined
        ? !isDeepStrictEqual(price, priceRow(undefined))
        : differences(newest, price).length > 0 && (writing.managedBy === 'file' || model.price !== undefined)
    if (isRepriced) await addPrice(tx, { id: randomUUIDv7(), modelId: model.id, ...price })
    count(changes, isNew(existing), isOther || isRepriced)
    tell(writing, 'models', model.id, existing, [...others, ...(isRepriced ? ['price'] : [])])
  }
}

/** The library's providers of each channel. Empty where the file does not ask for the library's prices. */
async function libraryProviders({
  prices,
  channels,
}: GatewayFile): Promise<Map<ChannelEntry, LibraryProvider[]>> {
  if (prices === undefined) return new Map()
  const library = await bundledLibrary()
  return new Map(channels.map((channel) => [channel, providersOf(channel, library)]))
}

/** The library's providers of the channels that the database has already. */
async function providersOfRows({ channels }: Rows): Promise<LibraryProvider[]> {
  const library = await bundledLibrary()
  return channels.flatMap(({ libraryProviders }) =>
    (libraryProviders ?? []).flatMap((id) => library.byId(id) ?? []),
  )
}

async function applyChannels(
  tx: Transaction,
  rows: Rows,
  channels: ChannelEntry[],
  {
    keeper,
    providers,
    changes,
    writing,
  }: Noting & {
    keeper: SecretKeeper
    providers: ReadonlyMap<ChannelEntry, readonly LibraryProvider[]>
  },
) {
  const rowOf = new Map(rows.channels.map((row) => [row.name, row]))
  const credentialsOf = Map.groupBy(rows.credentials, (row) => row.channelId)
  const offersOf = Map.groupBy(rows.offers, (row) => row.channelId)
  for (const channel of channels) {
    const existing = rowOf.get(channel.name)
    if (stays(existing, 'channels', channel.name, writing)) continue
    const id = existing?.id ?? randomUUIDv7()
    const wanted = {
      id,
      name: channel.name,
      protocols: channel.protocols,
      priority: channel.priority,
      weight: channel.weight,
      allowPrivateAddress: channel.allowPrivateAddress === true,
      privateAddresses: typeof channel.allowPrivateAddress === 'boolean' ? null : channel.allowPrivateAddress,
      concurrency: channel.concurrency ?? null,
      imageConcurrency: channel.imageConcurrency ?? null,
      imagesPerMinute: channel.imagesPerMinute ?? null,
      vendor: channel.vendor ?? null,
      libraryProviders: providers.get(channel)?.map(({ id }) => id) ?? null,
      traits: channel.traits ?? null,
      ...connectionColumns(channel.connection, id, existing, keeper),
      disabledAt: writing.disabledChannels.has(channel.name) ? (existing?.disabledAt ?? new Date()) : null,
      managedBy: writing.managedBy,
    } satisfies Partial<ChannelRow>
    const others = differences(existing, wanted)
    const isOther = existing === undefined || others.length > 0
    if (isOther) await putChannel(tx, wanted)

    const stored = credentialsOf.get(id) ?? []
    // Encrypting the same text twice gives different bytes, so compare the decrypted texts.
    const isOpened = isDeepStrictEqual(decryptAll(stored, keeper), channel.credentials)
    if (!isOpened) {
      const credentials = channel.credentials.map((credential, ordinal) => ({
        channelId: id,
        ordinal,
        ...keeper.encryptCredential(credential, id),
      }))
      await replaceCredentials(tx, id, credentials)
    }

    const offers = channel.offers.map(({ model, upstreamModel, traits }) => ({
      channelId: id,
      modelId: model,
      upstreamModel,
      traits: traits ?? null,
    }))
    const isOffered = isDeepStrictEqual(byModel(offersOf.get(id) ?? []), byModel(offers))
    if (!isOffered) await replaceOffers(tx, id, offers)
    count(changes, isNew(existing), isOther || !isOpened || !isOffered)
    const parts = [...(isOpened ? [] : ['credentials']), ...(isOffered ? [] : ['models'])]
    tell(writing, 'channels', channel.name, existing, [...others, ...parts])
  }
}

function decryptAll(stored: Rows['credentials'], keeper: SecretKeeper): string[] | undefined {
  try {
    return stored.map((row) => keeper.decryptCredential(row, row.channelId))
  } catch {
    // Encrypted with another SECRET_KEY: the file has the text, so encrypt it again.
    return undefined
  }
}

const byModel = (offers: { modelId: string; upstreamModel: string; traits: Traits | null }[]) =>
  Object.fromEntries(offers.map(({ modelId, upstreamModel, traits }) => [modelId, { upstreamModel, traits }]))

/** Answers the id of every group by name, also of groups that are not in the file. */
async function applyGroups(
  tx: Transaction,
  rows: Rows,
  groups: GroupEntry[],
  { changes, writing }: Noting,
): Promise<Map<string, string>> {
  const rowOf = new Map(rows.groups.map((row) => [row.id, row]))
  const ids = new Map(rows.groups.map((row) => [row.name, row.id]))
  for (const group of groups) {
    const id = ids.get(group.name) ?? randomUUIDv7()
    const existing = rowOf.get(id)
    if (stays(existing, 'groups', group.name, writing)) continue
    const wanted = {
      id,
      name: group.name,
      models: group.models,
      channels: group.channels,
      priceMultiplier: group.priceMultiplier,
      imagePriority: group.imagePriority,
      clientGonePolicy: group.clientGone.policy,
      clientGoneSeconds: group.clientGone.seconds,
      ...limitColumns(group.limits),
      totalRequestsPerMinute: group.totalLimits.requestsPerMinute ?? null,
      totalTokensPerMinute: group.totalLimits.tokensPerMinute ?? null,
      totalConcurrency: group.totalLimits.concurrency ?? null,
      ...budgetColumns(group.budget),
      managedBy: writing.managedBy,
    }
    const others = differences(existing, wanted)
    const isOther = existing === undefined || others.length > 0
    if (isOther) await putGroup(tx, wanted)
    count(changes, existing === undefined, isOther)
    tell(writing, 'groups', group.name, existing, others)
    ids.set(group.name, id)
  }
  return ids
}

type CatalogChanges = Pick<FileChanges, 'models' | 'channels' | 'groups'>

async function retire(tx: Transaction, rows: Rows, file: GatewayFile, changes: CatalogChanges) {
  const modelIds = new Set(file.models.map((model) => model.id))
  const models = rows.models.filter((row) => isLive(row) && !modelIds.has(row.id)).map((row) => row.id)
  if (models.length > 0) await disableModels(tx, models)
  changes.models.removed = models.length

  const channelNames = new Set(file.channels.map((channel) => channel.name))
  const channels = rows.channels
    .filter((row) => isLive(row) && !channelNames.has(row.name))
    .map((row) => row.id)
  if (channels.length > 0) await disableChannels(tx, channels)
  changes.channels.removed = channels.length

  const groupNames = new Set(file.groups.map((group) => group.name))
  const left = rows.groups
    .filter((row) => row.managedBy === 'file' && !groupNames.has(row.name))
    .map((row) => row.id)
  const inUse = await groupsInUse(tx, left)
  const unused = left.filter((id) => !inUse.has(id))
  if (unused.length > 0) await deleteGroups(tx, unused)
  changes.groups.removed = unused.length
}

function count(changes: Changes, isNew: boolean, isChanged: boolean): void {
  if (!isChanged) return
  if (isNew) changes.added++
  else changes.changed++
}

const isNew = (row: { disabledAt: Date | null } | undefined) => row === undefined || row.disabledAt !== null

const isLive = (row: { managedBy: string; disabledAt: Date | null }) =>
  row.managedBy === 'file' && row.disabledAt === null

function stays(row: object | undefined, kind: RowKind, name: string, writing: Writing): boolean {
  if (row === undefined || !writing.keepsExisting) return false
  writing.told(kind, name, 'skip', [])
  return true
}

function tell(
  writing: Writing,
  kind: RowKind,
  name: string,
  row: object | undefined,
  members: string[],
): void {
  if (row === undefined) writing.told(kind, name, 'create', [])
  else writing.told(kind, name, members.length === 0 ? 'skip' : 'change', members)
}
