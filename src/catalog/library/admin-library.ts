import type { Json } from '../../canonical/json.ts'
import type { ChannelEntry, GatewayFile } from '../gateway-file.ts'
import type { AllRows, Transaction } from '../queries.ts'
import { vendorNames } from '../traits/vendors.ts'
import { addProviders, applyLibrary, type LibrarySetting } from './apply-library.ts'
import { bundledLibrary } from './bundled.ts'
import { readPriceLibrary, setLibraryProviders } from './library-queries.ts'
import { providersOf } from './providers-of.ts'
import type { LibraryProvider } from './read-library.ts'

/**
 * Returns the library's providers for a channel and puts their prices in force. Returns null if the library's
 * prices are not used.
 */
export async function libraryForChannel(
  tx: Transaction,
  channel: Pick<ChannelEntry, 'vendor' | 'protocols'>,
): Promise<string[] | null> {
  if ((await readPriceLibrary(tx)) === undefined) return null
  const providers = providersOf(channel, await bundledLibrary())
  await addProviders(tx, providers)
  return providers.map(({ id }) => id)
}

/**
 * Returns the setting that applies together with a file: the file's own, or an admin's if the file has none.
 */
export async function librarySettingFor(
  tx: Transaction,
  { prices }: Pick<GatewayFile, 'prices'>,
): Promise<LibrarySetting | undefined> {
  if (prices !== undefined) return prices
  const state = await readPriceLibrary(tx)
  return state?.managedBy === 'admin' ? { renewUrl: state.renewUrl ?? undefined } : undefined
}

/**
 * Returns the setting for the channels of an import: the import's own, or that of the database, whoever
 * manages it.
 */
export async function settingForImport(
  tx: Transaction,
  { prices }: Pick<GatewayFile, 'prices'>,
): Promise<LibrarySetting | undefined> {
  if (prices !== undefined) return prices
  const state = await readPriceLibrary(tx)
  return state && { renewUrl: state.renewUrl ?? undefined }
}

/** Returns the providers of the channels that are not managed by a file. */
export function providersOfAdmins({ channels }: AllRows): Promise<LibraryProvider[]> {
  return providersOfChannels(channels.filter(({ managedBy }) => managedBy === 'admin'))
}

/** Returns the providers of channels that are already in the database. */
export async function providersOfChannels(channels: AllRows['channels']): Promise<LibraryProvider[]> {
  const names = channels.flatMap(({ libraryProviders }) => libraryProviders ?? [])
  if (names.length === 0) return []
  const library = await bundledLibrary()
  return [...new Set(names)].flatMap((name) => library.byId(name) ?? [])
}

/** Puts an admin's setting in force for all channels. */
export async function setLibrary(
  tx: Transaction,
  { channels }: AllRows,
  setting: LibrarySetting | undefined,
): Promise<void> {
  const all = new Map<string, LibraryProvider>()
  const library = setting === undefined ? undefined : await bundledLibrary()
  for (const row of channels) {
    const { vendor, protocols } = row
    const providers =
      library && providersOf({ vendor: vendorNames.find((name) => name === vendor), protocols }, library)
    for (const provider of providers ?? []) all.set(provider.id, provider)
    await setLibraryProviders(tx, row.id, providers?.map(({ id }) => id) ?? null)
  }
  await applyLibrary(tx, setting, all, 'admin')
}

/** Returns `prices` in the vocabulary of gateway.yaml, or undefined if it is not set. */
export function libraryWords(state: { renewUrl: string | null } | undefined): Json | string | undefined {
  if (state === undefined) return undefined
  const { renewUrl } = state
  if (renewUrl === null) return 'library'
  return { library: true, renew: 'daily', renew_from: renewUrl }
}
