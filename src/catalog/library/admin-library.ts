import type { Json } from '../../canonical/json.ts'
import { vendorNames } from '../../traits/vendors.ts'
import type { ChannelEntry, GatewayFile } from '../gateway-file.ts'
import type { AllRows, Transaction } from '../queries.ts'
import { addProviders, applyLibrary, type LibrarySetting } from './apply-library.ts'
import { bundledLibrary } from './bundled.ts'
import { readPriceLibrary, setLibraryProviders } from './library-queries.ts'
import { providersOf } from './providers-of.ts'
import type { LibraryProvider } from './read-library.ts'

/**
 * The library's providers for a channel, whose prices it puts in force. Null: the library's prices are not
 * wanted.
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

/** The setting that holds when a file is applied: its own, or an admin's where it has none. */
export async function librarySettingFor(
  tx: Transaction,
  { prices }: Pick<GatewayFile, 'prices'>,
): Promise<LibrarySetting | undefined> {
  if (prices !== undefined) return prices
  const state = await readPriceLibrary(tx)
  return state?.managedBy === 'admin' ? { renewUrl: state.renewUrl ?? undefined } : undefined
}

/**
 * The setting for the channels of an import: its own, or that of the database, regardless of who manages it.
 */
export async function settingForImport(
  tx: Transaction,
  { prices }: Pick<GatewayFile, 'prices'>,
): Promise<LibrarySetting | undefined> {
  if (prices !== undefined) return prices
  const state = await readPriceLibrary(tx)
  return state && { renewUrl: state.renewUrl ?? undefined }
}

/** Providers of the channels that no file manages. */
export function providersOfAdmins({ channels }: AllRows): Promise<LibraryProvider[]> {
  return providersOfChannels(channels.filter(({ managedBy }) => managedBy === 'admin'))
}

/** Providers of channels that the database has already. */
export async function providersOfChannels(channels: AllRows['channels']): Promise<LibraryProvider[]> {
  const names = channels.flatMap(({ libraryProviders }) => libraryProviders ?? [])
  if (names.length === 0) return []
  const library = await bundledLibrary()
  return [...new Set(names)].flatMap((name) => library.byId(name) ?? [])
}

/** Put an admin's setting in force for all channels. */
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

/** `prices` in the words of gateway.yaml; undefined: it is not set. */
export function libraryWords(state: { renewUrl: string | null } | undefined): Json | string | undefined {
  if (state === undefined) return undefined
  const { renewUrl } = state
  if (renewUrl === null) return 'library'
  return { library: true, renew: 'daily', renew_from: renewUrl }
}
