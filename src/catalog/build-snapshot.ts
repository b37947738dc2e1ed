import { isBudgeted } from '../db/settings/bounds.ts'
import { settingsOfChannels } from '../db/settings/channel-settings.ts'
import { groupSettingsOfRequests } from '../db/settings/group-settings.ts'
import { settingsOfModels } from '../db/settings/model-settings.ts'
import { fromRow } from '../db/settings/setting.ts'
import { tenantSettingsOfRequests } from '../db/settings/tenant-settings.ts'
import { protocolNames } from '../protocols/protocol.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { boundAddresses, openConnection } from './channel-connection.ts'
import { vendorByHost } from './channel-protocols.ts'
import { ChannelPrices } from './library/channel-prices.ts'
import { matcherOf } from './library/match.ts'
import { priceFromRow } from './price-from-row.ts'
import type { CatalogRows, ChannelRow } from './queries.ts'
import { servingOffers } from './serving-offers.ts'
import type { Channel, Group, LibraryPrices, Model, Offer, Snapshot } from './snapshot.ts'
import { OfferTraits, type TraitVerdict } from './traits/offer-traits.ts'
import { type VendorName, vendorNames } from './traits/vendors.ts'

/**
 * Builds a snapshot from the rows. Pure, except that it logs each channel whose credentials cannot be
 * decrypted.
 */
export function buildSnapshot(
  rows: CatalogRows,
  keeper: SecretKeeper,
  warn: (message: string) => void,
): Snapshot {
  const opened = openChannels(rows, keeper, warn)
  const blockedIds = new Set(rows.channels.flatMap(({ id, blockedAt }) => (blockedAt === null ? [] : id)))
  const blocked = opened.filter(({ id }) => blockedIds.has(id))
  const channels = new Map(
    opened.flatMap((channel) => (blockedIds.has(channel.id) ? [] : [[channel.id, channel] as const])),
  )
  const prices = new Map(rows.prices.map((row) => [row.modelId, priceFromRow(row)]))
  const offers = Map.groupBy(rows.offers, (row) => row.modelId)
  const verdicts = Map.groupBy(rows.verdicts, (row) => row.channelId)
  const stated = new Map(rows.models.map((row) => [row.id, row.traits]))
  const channelRows = new Map(rows.channels.map((row) => [row.id, row]))
  const traitsOf = (id: string, offer: OfferRow): OfferTraits => {
    const channel = channelRows.get(offer.channelId)
    return new OfferTraits({
      vendor: vendorOf(channel),
      stated: [stated.get(id), channel?.traits, offer.traits].flatMap((traits) => traits ?? []),
      verdicts: (verdicts.get(offer.channelId) ?? []).flatMap(verdictOf),
    })
  }
  const pricesOf = libraryPricesOf(rows)
  const offersOf = (id: string) =>
    listOffers(servingOffers(offers, id), channels, (offer) => ({
      traits: traitsOf(id, offer),
      libraryPrices: pricesOf.get(offer.channelId),
    }))
  const blockedOf = (id: string) => {
    const serving = new Set(servingOffers(offers, id).map(({ channelId }) => channelId))
    return blocked.filter((channel) => serving.has(channel.id))
  }
  const owners = ownersOf(rows.models)
  const models = rows.models.map(
    (row): Model => ({
      id: row.id,
      ...fromRow(settingsOfModels, row),
      aliases: row.aliases.filter((alias) => owners.get(alias) === row.id),
      price: prices.get(row.id),
      offers: offersOf(row.id),
      ...(blocked.length > 0 && { blocked: blockedOf(row.id) }),
      createdAt: row.createdAt,
    }),
  )
  const anyModel = models.find((model) => model.id === '*')
  const named = models.filter((model) => model !== anyModel)
  return {
    revision: rows.revision,
    // Ids come first, so that the first name that maps to a model is its id.
    models: new Map([
      ...named.map((model) => [model.id, model] as const),
      ...named.flatMap((model) => model.aliases.map((alias) => [alias, model] as const)),
    ]),
    anyModel: isServed(anyModel) ? anyModel : undefined,
    channels,
    groups: new Map(rows.groups.map((row) => [row.id, groupOf(row)])),
    tenants: new Map(
      rows.tenants.map((row) => [
        row.id,
        {
          id: row.id,
          name: row.name,
          limited: row.limited || isBudgeted(row),
          ...fromRow(tenantSettingsOfRequests, row),
        },
      ]),
    ),
    soleTenants: soleTenantsOf(rows),
  }
}

/** Whether a channel serves the model, or would if it were not blocked. */
const isServed = (model: Model | undefined) =>
  model !== undefined && model.offers.length + (model.blocked?.length ?? 0) > 0

/** Maps each channel that only one tenant can reach, through any of its groups, to that tenant. */
export function soleTenantsOf({
  channels,
  groups,
  groupTenants,
}: Pick<CatalogRows, 'channels' | 'groups' | 'groupTenants'>): Map<string, string> {
  const tenantsOf = new Map(groupTenants.map(({ groupId, first, last }) => [groupId, [first, last]]))
  return new Map(
    channels.flatMap(({ id, name }) => {
      const reaching = groups.filter((group) => group.channels.includes('*') || group.channels.includes(name))
      const tenants = new Set(reaching.flatMap((group) => tenantsOf.get(group.id) ?? []))
      const [tenant] = tenants
      return tenants.size === 1 && typeof tenant === 'string' ? [[id, tenant] as const] : []
    }),
  )
}

/**
 * Maps each name to its model. A file cannot contain a name twice, but rows from different sources can. In
 * that case an id takes precedence over an alias, and of two models with the same alias the one with the
 * lower id wins.
 */
function ownersOf(models: CatalogRows['models']): Map<string, string> {
  const owners = new Map(models.map(({ id }) => [id, id]))
  for (const { id, aliases } of models.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    for (const alias of aliases) if (!owners.has(alias)) owners.set(alias, id)
  }
  return owners
}

function openChannels(rows: CatalogRows, keeper: SecretKeeper, warn: (message: string) => void): Channel[] {
  const credentials = Map.groupBy(rows.credentials, (row) => row.channelId)
  return rows.channels.flatMap((row) => {
    try {
      const stored = credentials.get(row.id) ?? []
      if (stored.length === 0) throw new Error('it has no credential')
      const channel: Channel = {
        id: row.id,
        name: row.name,
        protocols: row.protocols,
        ...fromRow(settingsOfChannels, row),
        credentials: stored.map((one) => keeper.decryptCredential(one, row.id)),
        breakerResets: row.breakerResets,
        vendor: vendorOf(row),
        connection: openConnection(row, keeper),
      }
      return [row.isAddressBounded ? boundAddresses(channel) : channel]
    } catch (error) {
      warn(`Channel "${row.name}" is ignored: ${error instanceof Error ? error.message : String(error)}`)
      return []
    }
  })
}

type OfferRow = CatalogRows['offers'][number]

/** Returns the library's prices by channel id. Channels with the same providers share one object. */
function libraryPricesOf({ channels, libraryPrices }: CatalogRows): Map<string, LibraryPrices> {
  const entries = Map.groupBy(libraryPrices, ({ provider }) => provider)
  const shared = new Map<string, LibraryPrices>()
  const found = new Map<string, LibraryPrices>()
  for (const { id, libraryProviders } of channels) {
    if (libraryProviders === null || libraryProviders.length === 0) continue
    const providers = libraryProviders.join(' ')
    const known = shared.get(providers)
    const prices =
      known ??
      new ChannelPrices(
        libraryProviders
          .flatMap((provider) => entries.get(provider) ?? [])
          .map(({ match, price }) => ({
            matches: matcherOf(match),
            price: price === null ? undefined : priceFromRow(price),
          })),
      )
    shared.set(providers, prices)
    found.set(id, prices)
  }
  return found
}

function vendorOf(row: Pick<ChannelRow, 'vendor' | 'protocols'> | undefined): VendorName | undefined {
  if (row === undefined) return undefined
  return row.vendor === null ? vendorByHost(row.protocols) : vendorNames.find((known) => known === row.vendor)
}

function verdictOf(row: CatalogRows['verdicts'][number]): TraitVerdict[] {
  const protocol = protocolNames.find((name) => name === row.protocol)
  if (protocol === undefined || row.traits === null) return []
  const { upstreamModel, traits, decidedAt } = row
  return [{ protocol, upstreamModel, traits, decidedAt, expiresAt: row.expiresAt ?? undefined }]
}

function listOffers(
  rows: readonly OfferRow[],
  channels: ReadonlyMap<string, Channel>,
  knownOf: (offer: OfferRow) => Pick<Offer, 'traits' | 'libraryPrices'>,
): Offer[] {
  return rows
    .flatMap((row) => {
      const channel = channels.get(row.channelId)
      return channel === undefined ? [] : [{ channel, upstreamModel: row.upstreamModel, ...knownOf(row) }]
    })
    .toSorted((a, b) => b.channel.priority - a.channel.priority || (a.channel.name < b.channel.name ? -1 : 1))
}

const groupOf = (row: CatalogRows['groups'][number]): Group => ({
  id: row.id,
  name: row.name,
  ...fromRow(groupSettingsOfRequests, row),
  budgeted: isBudgeted(row),
})
