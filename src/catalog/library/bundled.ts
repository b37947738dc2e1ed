import { type LibraryProvider, readLibrary } from './read-library.ts'

/**
 * The exact version of the package. It is a part of what a gateway.yaml means: another version makes other
 * rows.
 */
export const libraryVersion = '0.1.8'

/** Finds providers in the data of the package. */
export interface BundledLibrary {
  byId(id: string): LibraryProvider | undefined
  byUrl(url: string): LibraryProvider | undefined
}

/** Loaded only where gateway.yaml asks for it: its data are 800 KB of JavaScript. */
export async function bundledLibrary(): Promise<BundledLibrary> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const read = (found: ReturnType<typeof findProvider>): LibraryProvider | undefined =>
    found === undefined ? undefined : readLibrary([found])[0]
  return {
    byId(id) {
      // The package takes other words for an id too, such as any text with "openai" in it.
      const found = findProvider({ providerId: id })
      return found?.id === id ? read(found) : undefined
    },
    byUrl: (url) => read(findProvider({ providerApiUrl: url })),
  }
}
