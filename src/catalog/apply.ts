import { randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Traits } from '../canonical/traits.ts'
import { settingsOfGroups } from '../db/settings/group-settings.ts'
import { toRow } from '../db/settings/setting.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { channelRow, credentialRows, modelRow, offerRows } from './entry-rows.ts'
import {
  byFile,
  type ChangedNames,
  differences,
  type FileKind,
  type FileNames,
  noChanges,
  type Writing,
} from './file-changes.ts'
import type { ChannelEntry, GatewayFile, GroupEntry, ModelEntry } from './gateway-file.ts'
import {
  librarySettingFor,
  providersOfAdmins,
  providersOfChannels,
  settingForImport,
} from './library/admin-library.ts'
import { addProviders, applyLibrary, type LibrarySetting } from './library/apply-library.ts'
import { bundledLibrary } from './library/bundled.ts'
import { providersOf } from './library/providers-of.ts'
import type { LibraryProvider } from './library/read-library.ts'
import { priceRow } from './price-to-row.ts'
import {
  addPrice,
  deleteGroups,
  disableChannels,
  disableModels,
  groupsInUse,
  moveBlock,
  putChannel,
  putGroup,
  putModel,
  readAllRows,
  replaceCredentials,
  replaceOffers,
  type Transaction,
} from './queries.ts'

/**
 * Writes the models, channels and groups of a gateway file. Only changes rows that differ. Returns the ids of
 * all groups by name, the changes, and `retire`, which disables the rows of an earlier file that are missing
 * from this one and adds them to the changes. Call `retire` last, because until then keys may refer to such
 * groups. Do not call it when writing for an admin.
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
  const setting =
    writing.managedBy === 'file' ? await librarySettingFor(tx, file) : await settingForImport(tx, file)
  const providers = await libraryProviders(file.channels, setting)
  await applyChannels(tx, rows, file.channels, { keeper, providers, changes: changes.channels, writing })
  await applyPrices(tx, rows, file, { setting, wanted: [...providers.values()].flat(), writing })
  const groupIds = await applyGroups(tx, rows, file.groups, { changes: changes.groups, writing })
  return { groupIds, changes, retire: () => retire(tx, rows, file, changes) }
}

type Rows = Awaited<ReturnType<typeof readAllRows>>

interface Noting {
  changes: ChangedNames
  writing: Writing
}

async function applyModels(tx: Transaction, rows: Rows, models: ModelEntry[], noting: Noting) {
  const { writing } = noting
  const rowOf = new Map(rows.models.map((row) => [row.id, row]))
  const priceOf = new Map(rows.prices.map((row) => [row.modelId, row]))
  for (const model of models) {
    const wanted = modelRow(model, writing.managedBy)
    const existing = rowOf.get(model.id)
    if (stays(existing, 'models', model.id, writing)) continue
    const members = differences(existing, wanted)
    const isOther = existing === undefined || members.length > 0
    if (isOther) await putModel(tx, wanted)

    // A model without a price only gets a price row if an older row has a price, which then no longer
    // applies. When writing for an admin, that price is kept.
    const price = priceRow(model.price)
    const newest = priceOf.get(model.id)
    const isRepriced =
      newest === undefined
        ? !isDeepStrictEqual(price, priceRow(undefined))
        : differences(newest, price).length > 0 && (writing.managedBy === 'file' || model.price !== undefined)
    if (isRepriced) await addPrice(tx, { id: randomUUIDv7(), modelId: model.id, ...price })
    if (isRepriced) members.push('price')
    note('models', model.id, noting, { existing, isNew: isNew(existing), members })
  }
}

/** Returns the library's providers for each channel. Empty if the library's prices are not used. */
async function libraryProviders(
  channels: readonly ChannelEntry[],
  setting: LibrarySetting | undefined,
): Promise<Map<ChannelEntry, LibraryProvider[]>> {
  if (setting === undefined) return new Map()
  const library = await bundledLibrary()
  return new Map(channels.map((channel) => [channel, providersOf(channel, library)]))
}

interface Prices {
  setting: LibrarySetting | undefined
  wanted: readonly LibraryProvider[]
  writing: Writing
}

/**
 * Puts the library's prices in force. An import without a `prices` setting only adds the providers of its
 * channels.
 */
async function applyPrices(
  tx: Transaction,
  rows: Rows,
  { prices }: GatewayFile,
  { setting, wanted, writing }: Prices,
): Promise<void> {
  const isImport = writing.managedBy === 'admin'
  if (isImport && prices === undefined) return addProviders(tx, [...byId(wanted).values()])
  const others = isImport ? await providersOfChannels(rows.channels) : await providersOfAdmins(rows)
  const managedBy = isImport || prices === undefined ? 'admin' : 'file'
  await applyLibrary(tx, setting, byId([...wanted, ...others]), managedBy)
}

const byId = (providers: readonly LibraryProvider[]) =>
  new Map(providers.map((provider) => [provider.id, provider]))

async function applyChannels(
  tx: Transaction,
  rows: Rows,
  channels: ChannelEntry[],
  {
    keeper,
    providers,
    ...noting
  }: Noting & { keeper: SecretKeeper; providers: ReadonlyMap<ChannelEntry, readonly LibraryProvider[]> },
) {
  const { writing } = noting
  const rowOf = new Map(rows.channels.map((row) => [row.name, row]))
  const credentialsOf = Map.groupBy(rows.credentials, (row) => row.channelId)
  const offersOf = Map.groupBy(rows.offers, (row) => row.channelId)
  const formerOf = blockedFormers(rows, channels, (id) => decryptAll(credentialsOf.get(id) ?? [], keeper))
  for (const channel of channels) {
    const existing = rowOf.get(channel.name)
    if (stays(existing, 'channels', channel.name, writing)) continue
    const id = existing?.id ?? randomUUIDv7()
    const row = channelRow(channel, id, {
      existing,
      keeper,
      libraryProviders: providers.get(channel)?.map(({ id }) => id) ?? null,
      managedBy: writing.managedBy,
      isAddressBounded: writing.isAddressBounded ?? false,
    })
    const isDisabled = writing.disabledChannels.has(channel.name)
    const wanted = { ...row, disabledAt: isDisabled ? (existing?.disabledAt ?? new Date()) : null }
    const members = differences(existing, wanted)
    const isOther = existing === undefined || members.length > 0
    if (isOther) await putChannel(tx, wanted)
    const renamed = isNew(existing) && writing.managedBy === 'file' ? formerOf(channel) : undefined
    if (renamed !== undefined) await moveBlock(tx, renamed, id)

    const stored = credentialsOf.get(id) ?? []
    // Encrypting the same text twice produces different bytes, so compare the decrypted texts.
    const isOpened = isDeepStrictEqual(decryptAll(stored, keeper), channel.credentials)
    if (!isOpened) {
      await replaceCredentials(tx, id, credentialRows(channel.credentials, id, keeper))
      members.push('credentials')
    }

    const offers = offerRows(channel.offers, id)
    const isOffered = isDeepStrictEqual(byModel(offersOf.get(id) ?? []), byModel(offers))
    if (!isOffered) {
      await replaceOffers(tx, id, offers)
      members.push('models')
    }
    note('channels', channel.name, noting, { existing, isNew: isNew(existing), members })
  }
}

/**
 * Lets a block follow a channel that gets another name in the file: returns the function that finds the
 * blocked channel which this file no longer names, with the same base URLs and a common credential. Each is
 * found once.
 */
function blockedFormers(
  rows: Rows,
  channels: readonly ChannelEntry[],
  credentialsOf: (id: string) => string[] | undefined,
) {
  const named = new Set(channels.map(({ name }) => name))
  const left = new Set(
    rows.channels.filter((row) => isLive(row) && row.blockedAt !== null && !named.has(row.name)),
  )
  return ({ protocols, credentials }: ChannelEntry) => {
    const former = [...left].find(
      (row) =>
        isDeepStrictEqual(row.protocols, protocols) &&
        credentialsOf(row.id)?.some((one) => credentials.includes(one)),
    )
    if (former !== undefined) left.delete(former)
    return former
  }
}

function decryptAll(stored: Rows['credentials'], keeper: SecretKeeper): string[] | undefined {
  try {
    return stored.map((row) => keeper.decryptCredential(row, row.channelId))
  } catch {
    // Encrypted with another SECRET_KEY. The file contains the plain text, so encrypt it again.
    return undefined
  }
}

const byModel = (offers: { modelId: string; upstreamModel: string; traits: Traits | null }[]) =>
  Object.fromEntries(offers.map(({ modelId, upstreamModel, traits }) => [modelId, { upstreamModel, traits }]))

/** Returns the id of every group by name, including groups that are not in the file. */
async function applyGroups(
  tx: Transaction,
  rows: Rows,
  groups: GroupEntry[],
  noting: Noting,
): Promise<Map<string, string>> {
  const { writing } = noting
  const rowOf = new Map(rows.groups.map((row) => [row.id, row]))
  const ids = new Map(rows.groups.map((row) => [row.name, row.id]))
  for (const group of groups) {
    const id = ids.get(group.name) ?? randomUUIDv7()
    const wanted = { id, name: group.name, ...toRow(settingsOfGroups, group), managedBy: writing.managedBy }
    const existing = rowOf.get(id)
    if (stays(existing, 'groups', group.name, writing)) continue
    const members = differences(existing, wanted)
    if (existing === undefined || members.length > 0) await putGroup(tx, wanted)
    note('groups', group.name, noting, { existing, isNew: existing === undefined, members })
    ids.set(group.name, id)
  }
  return ids
}

type CatalogChanges = Pick<FileNames, 'models' | 'channels' | 'groups'>

async function retire(tx: Transaction, rows: Rows, file: GatewayFile, changes: CatalogChanges) {
  const modelIds = new Set(file.models.map((model) => model.id))
  // A channel managed by an admin may pass any name through.
  const ofAdmins = new Set(
    rows.channels.filter(({ managedBy }) => managedBy === 'admin').map((row) => row.id),
  )
  const passesAny = rows.offers.some(({ modelId, channelId }) => modelId === '*' && ofAdmins.has(channelId))
  if (passesAny) modelIds.add('*')
  const models = rows.models.filter((row) => isLive(row) && !modelIds.has(row.id)).map((row) => row.id)
  if (models.length > 0) await disableModels(tx, models)
  changes.models.removed = models

  const channelNames = new Set(file.channels.map((channel) => channel.name))
  const channels = rows.channels.filter((row) => isLive(row) && !channelNames.has(row.name))
  const channelIds = channels.map((row) => row.id)
  if (channels.length > 0) await disableChannels(tx, channelIds)
  changes.channels.removed = channels.map((row) => row.name)

  const groupNames = new Set(file.groups.map((group) => group.name))
  const left = rows.groups.filter((row) => row.managedBy === 'file' && !groupNames.has(row.name))
  const leftIds = left.map((row) => row.id)
  const inUse = await groupsInUse(tx, leftIds)
  const unused = left.filter(({ id }) => !inUse.has(id))
  const unusedIds = unused.map((row) => row.id)
  if (unused.length > 0) await deleteGroups(tx, unusedIds)
  changes.groups.removed = unused.map((row) => row.name)
}

interface Noted {
  existing: { managedBy: 'file' | 'admin' } | undefined
  isNew: boolean
  /** The columns that change in an existing row. */
  members: readonly string[]
}

function note(
  kind: FileKind,
  name: string,
  { changes, writing }: Noting,
  { existing, isNew, members }: Noted,
): void {
  if (existing === undefined) writing.report(kind, name, 'create', [])
  else writing.report(kind, name, members.length === 0 ? 'skip' : 'change', members, existing)
  if (existing !== undefined && members.length === 0) return
  if (existing?.managedBy === 'admin' && writing.managedBy === 'file') changes.taken_over.push(name)
  if (isNew) changes.added.push(name)
  else changes.changed.push(name)
}

function stays(row: object | undefined, kind: FileKind, name: string, writing: Writing): boolean {
  if (row === undefined || !writing.keepsExisting) return false
  writing.report(kind, name, 'skip', [])
  return true
}

const isNew = (row: { disabledAt: Date | null } | undefined) => row === undefined || row.disabledAt !== null

const isLive = (row: { managedBy: string; disabledAt: Date | null }) =>
  row.managedBy === 'file' && row.disabledAt === null
