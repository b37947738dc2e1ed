import { settingsOfChannels } from '../db/settings/channel-settings.ts'
import { settingsOfModels } from '../db/settings/model-settings.ts'
import { toRow } from '../db/settings/setting.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { connectionColumns } from './channel-connection.ts'
import type { ChannelEntry, ModelEntry } from './gateway-file.ts'
import type { ChannelRow } from './queries.ts'

// Builds the rows of an entry of gateway.yaml, or of an admin's entry in the same vocabulary.

export type ManagedBy = 'file' | 'admin'

export function modelRow(model: ModelEntry, managedBy: ManagedBy) {
  return {
    id: model.id,
    ...toRow(settingsOfModels, model),
    traits: model.traits ?? null,
    disabledAt: null,
    managedBy,
  }
}

interface ChannelRowOptions {
  /** The existing row, if any. */
  existing: ChannelRow | undefined
  keeper: SecretKeeper
  /** The library's providers; null if the library's prices are not used. */
  libraryProviders: string[] | null
  managedBy: ManagedBy
  isAddressBounded?: boolean
}

export function channelRow(
  channel: ChannelEntry,
  id: string,
  { existing, keeper, libraryProviders, managedBy, isAddressBounded = false }: ChannelRowOptions,
) {
  return {
    id,
    name: channel.name,
    protocols: channel.protocols,
    ...toRow(settingsOfChannels, channel),
    isAddressBounded,
    vendor: channel.vendor ?? null,
    libraryProviders,
    traits: channel.traits ?? null,
    ...connectionColumns(channel.connection, id, existing, keeper),
    disabledAt: null,
    managedBy,
  } satisfies Partial<ChannelRow>
}

export function credentialRows(credentials: readonly string[], channelId: string, keeper: SecretKeeper) {
  return credentials.map((credential, ordinal) => ({
    channelId,
    ordinal,
    ...keeper.encryptCredential(credential, channelId),
  }))
}

export function offerRows(offers: ChannelEntry['offers'], channelId: string) {
  return offers.map(({ model, upstreamModel, traits }) => ({
    channelId,
    modelId: model,
    upstreamModel,
    traits: traits ?? null,
  }))
}
