import type { VendorName } from '../traits/vendors.ts'
import type { BundledLibrary } from './bundled.ts'
import type { LibraryProvider } from './read-library.ts'

/** The library's name for a vendor, if it differs from ours. */
const providerNames: Readonly<Record<string, string>> = { gemini: 'google', xai: 'x-ai' }

/**
 * Returns the library's providers whose prices apply to a channel, in order of precedence: the provider of
 * the channel's vendor, or else of its base URLs, followed by the providers whose models it also sells. Empty
 * if the library knows none.
 */
export function providersOf(
  { vendor, protocols }: { vendor: VendorName | undefined; protocols: Readonly<Record<string, string>> },
  library: BundledLibrary,
): LibraryProvider[] {
  const named = vendor === undefined ? undefined : library.byId(providerNames[vendor] ?? vendor)
  const first = named ?? firstOf(Object.values(protocols), (url) => library.byUrl(url))
  const found = new Map<string, LibraryProvider>()
  const add = (provider: LibraryProvider | undefined) => {
    if (provider === undefined || found.has(provider.id)) return
    found.set(provider.id, provider)
    for (const id of provider.fallbacks) add(library.byId(id))
  }
  add(first)
  return [...found.values()]
}

function firstOf<From, To>(list: readonly From[], find: (from: From) => To | undefined): To | undefined {
  for (const each of list) {
    const found = find(each)
    if (found !== undefined) return found
  }
  return undefined
}
