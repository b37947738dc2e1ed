import { randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { priceRow } from '../price-to-row.ts'
import { readLibraryRows, type Transaction } from '../queries.ts'
import { libraryVersion } from './bundled.ts'
import { priceFromLibrary } from './library-price.ts'
import {
  addPrices,
  dropPriceLibrary,
  keepOnlyProviders,
  type LibraryRow,
  type NewLibraryRow,
  providersInUse,
  putPriceLibrary,
  readPriceLibrary,
  replaceLibraryRows,
} from './library-queries.ts'
import type { LibraryProvider } from './read-library.ts'

/** The `prices` setting of a gateway.yaml that uses the library. */
export interface LibrarySetting {
  /** The address from which newer data is fetched every day; undefined: nothing is fetched. */
  renewUrl: string | undefined
}

/**
 * Puts the package's prices for these providers in force; if `setting` is undefined, no library prices apply.
 * Fetched data stays, unless the package has another version or the file no longer wants data to be fetched.
 */
export async function applyLibrary(
  tx: Transaction,
  setting: LibrarySetting | undefined,
  providers: ReadonlyMap<string, LibraryProvider>,
  managedBy: 'file' | 'admin' = 'file',
): Promise<void> {
  const state = await readPriceLibrary(tx)
  if (setting === undefined) {
    if (state !== undefined) await dropPriceLibrary(tx)
    return
  }
  const renewUrl = setting.renewUrl ?? null
  const isRenewed = state?.version === libraryVersion && state.renewedAt !== null && renewUrl !== null
  const rows = Map.groupBy(await readLibraryRows(tx), ({ provider }) => provider)
  if ([...rows.keys()].some((id) => !providers.has(id))) await keepOnlyProviders(tx, [...providers.keys()])
  for (const [id, provider] of providers) {
    const known = rows.get(id)
    if (known !== undefined && isRenewed) continue
    await writeProvider(tx, provider, known ?? [], bundledSource)
  }
  await putPriceLibrary(tx, {
    id: 1,
    version: libraryVersion,
    renewUrl,
    renewedAt: isRenewed ? state.renewedAt : null,
    triedAt: isRenewed ? state.triedAt : null,
    managedBy,
  })
}

const bundledSource = `library @pydantic/genai-prices ${libraryVersion}`

/** Puts the package's prices for these providers in force, in addition to those that already are. */
export async function addProviders(tx: Transaction, providers: readonly LibraryProvider[]): Promise<void> {
  const known = new Set((await readLibraryRows(tx)).map(({ provider }) => provider))
  for (const provider of providers) {
    if (!known.has(provider.id)) await writeProvider(tx, provider, [], bundledSource)
  }
}

/** Puts fetched prices in force for the providers of our channels. Returns the number of new prices. */
export async function applyRenewal(
  tx: Transaction,
  fetched: readonly LibraryProvider[],
  at: Date,
): Promise<number> {
  const state = await readPriceLibrary(tx)
  if (state?.renewUrl == null) return 0
  const rows = Map.groupBy(await readLibraryRows(tx), ({ provider }) => provider)
  const inUse = await providersInUse(tx)
  const source = `library @pydantic/genai-prices ${state.version}, renewed ${at.toISOString().slice(0, 10)}`
  let added = 0
  for (const provider of fetched) {
    if (!inUse.has(provider.id)) continue
    added += await writeProvider(tx, provider, rows.get(provider.id) ?? [], source)
  }
  await putPriceLibrary(tx, { ...state, renewedAt: at })
  return added
}

/** Writes a provider's prices. An unchanged price keeps its row. Returns the number of new price rows. */
async function writeProvider(
  tx: Transaction,
  provider: LibraryProvider,
  known: readonly LibraryRow[],
  source: string,
): Promise<number> {
  const now = Date.now()
  const knownOf = new Map(known.map((row) => [row.model, row]))
  const fresh: Parameters<typeof addPrices>[1] = []
  const rows = provider.models.map(({ id, match, prices }, ordinal): NewLibraryRow => {
    const price = priceFromLibrary(prices, now)
    const row = { provider: provider.id, ordinal, model: id, match }
    if (price === undefined) return { ...row, priceId: null }
    const wanted = { ...priceRow(price), source: `${source}, ${provider.id}/${id}` }
    const before = knownOf.get(id)?.price ?? undefined
    if (before !== undefined && isSamePrice(before, wanted)) return { ...row, priceId: before.id }
    const priceId = randomUUIDv7()
    fresh.push({ id: priceId, modelId: null, ...wanted })
    return { ...row, priceId }
  })
  const before = known.map(({ price, ...row }, ordinal) => ({ ...row, ordinal, priceId: price?.id ?? null }))
  if (
    isDeepStrictEqual(
      before,
      rows.map((row) => ({ ...row })),
    )
  )
    return 0
  await addPrices(tx, fresh)
  await replaceLibraryRows(tx, provider.id, rows)
  return fresh.length
}

/** Compares two prices without their source. */
function isSamePrice(before: NonNullable<LibraryRow['price']>, wanted: ReturnType<typeof priceRow>): boolean {
  return isDeepStrictEqual({ ...before, ...wanted, source: before.source }, before)
}
