import { type LibraryProvider, readLibrary } from './read-library.ts'

/**
 * The exact version of the package. It is part of the meaning of a gateway.yaml, because another version
 * produces different rows.
 */
export const libraryVersion = '0.1.8'

/** Finds providers in the package's data. */
export interface BundledLibrary {
  byId(id: string): LibraryProvider | undefined
  byUrl(url: string): LibraryProvider | undefined
  /** The vendor to which the name of a model belongs. */
  byModel(name: string): LibraryProvider | undefined
}

/** Loads the package, only if gateway.yaml uses it, because its data is 800 KB of JavaScript. */
export async function bundledLibrary(): Promise<BundledLibrary> {
  const { findProvider } = await import('@pydantic/genai-prices')
  const read = (found: ReturnType<typeof findProvider>): LibraryProvider | undefined =>
    found === undefined ? undefined : readLibrary([found])[0]
  return {
    byId(id) {
      // The package also accepts other texts as an id, such as any text that contains "openai".
      const found = findProvider({ providerId: id })
      return found?.id === id ? read(found) : undefined
    },
    byUrl: (url) => read(findProvider({ providerApiUrl: url })),
    byModel: (name) => read(findProvider({ modelId: name })),
  }
}
