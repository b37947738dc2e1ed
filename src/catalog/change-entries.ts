import { randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../canonical/json.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { openedConnection } from './channel-connection.ts'
import { channelOut, connectionWords, modelWords } from './entry-out.ts'
import { channelRow, credentialRows, modelRow, offerRows } from './entry-rows.ts'
import type { ChannelEntry, ModelEntry } from './gateway-file.ts'
import { libraryForChannel } from './library/admin-library.ts'
import { priceRow } from './price-to-row.ts'
import {
  type AllRows,
  addPrice,
  type ChannelRow,
  ensureAnyModel,
  lockRows,
  type PriceRow,
  putChannel,
  putModel,
  readAllRows,
  replaceCredentials,
  replaceOffers,
  type Transaction,
} from './queries.ts'
import type { Price } from './snapshot.ts'

/**
 * Reads all rows of the catalog in order to change some of them. Other changes wait, so what was read stays
 * true until the commit.
 */
export async function rowsToChange(tx: Transaction): Promise<AllRows> {
  await lockRows(tx)
  return await readAllRows(tx)
}

export function modelIn(
  rows: AllRows,
  id: string,
): { row: AllRows['models'][number]; words: Json } | undefined {
  const row = rows.models.find((one) => one.id === id)
  const price = rows.prices.find(({ modelId }) => modelId === id)
  return row && { row, words: modelWords(row, price) }
}

/** A channel with its credentials, which are undefined if another SECRET_KEY encrypted them. */
export interface StoredChannel {
  row: ChannelRow
  offers: AllRows['offers']
  credentials: string[] | undefined
  /** All settings including secrets, in the vocabulary of gateway.yaml. */
  words: Json
}

export function channelIn(rows: AllRows, id: string, keeper: SecretKeeper): StoredChannel | undefined {
  const row = rows.channels.find((one) => one.id === id)
  return row && storedChannel(row, rows, keeper)
}

export function storedChannel(row: ChannelRow, rows: AllRows, keeper: SecretKeeper): StoredChannel {
  const offers = rows.offers.filter(({ channelId }) => channelId === row.id)
  const sealed = rows.credentials.filter(({ channelId }) => channelId === row.id)
  const credentials = attempt(() => sealed.map((one) => keeper.decryptCredential(one, row.id)))
  const connection = attempt(() => openedConnection(row, keeper))
  const words = {
    ...channelOut(row, offers),
    ...(credentials !== undefined && credentials.length > 0 && { api_keys: credentials }),
    ...connectionWords(connection ?? {}),
  }
  return { row, offers, credentials, words }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Writes a channel. An existing row becomes managed by the admin. `isAddressBounded` means that its addresses
 * are within PRIVATE_ADDRESSES.
 */
export async function writeChannel(
  tx: Transaction,
  channel: ChannelEntry,
  {
    existing,
    keeper,
    isAddressBounded,
  }: { existing: ChannelRow | undefined; keeper: SecretKeeper; isAddressBounded: boolean },
): Promise<string> {
  const id = existing?.id ?? randomUUIDv7()
  const row = channelRow(channel, id, {
    existing,
    keeper,
    libraryProviders: await libraryForChannel(tx, channel),
    managedBy: 'admin',
    isAddressBounded,
  })
  await putChannel(tx, { ...row, disabledAt: existing?.disabledAt ?? null })
  await replaceCredentials(tx, id, credentialRows(channel.credentials, id, keeper))
  await replaceOffers(tx, id, offerRows(channel.offers, id))
  if (channel.offers.some(({ model }) => model === '*')) await ensureAnyModel(tx)
  return id
}

/**
 * Writes a model and, if its price has changed, a new version of the price. `source` names who set the price.
 */
export async function writeModel(
  tx: Transaction,
  model: ModelEntry,
  { rows, source }: { rows: AllRows; source: string },
): Promise<void> {
  const existing = rows.models.find(({ id }) => id === model.id)
  await putModel(tx, { ...modelRow(model, 'admin'), disabledAt: existing?.disabledAt ?? null })
  const newest = rows.prices.find(({ modelId }) => modelId === model.id)
  if (!isSamePrice(newest, model.price)) await writePrice(tx, model.id, model.price, source)
}

/** Whether a model's newest version already is this price; both can be undefined. */
export function isSamePrice(newest: PriceRow | undefined, price: Omit<Price, 'id'> | undefined): boolean {
  const { source: _, ...before } = priceRow(undefined)
  const { source: __, ...wanted } = priceRow(price)
  const known = newest === undefined ? before : { ...newest, ...wanted }
  return isDeepStrictEqual(known, newest ?? wanted)
}

/** Adds a new version of a price, which applies from the commit on. */
export async function writePrice(
  tx: Transaction,
  modelId: string,
  price: Omit<Price, 'id'> | undefined,
  source: string,
): Promise<string> {
  const id = randomUUIDv7()
  await addPrice(tx, { id, modelId, ...priceRow(price), source })
  return id
}
