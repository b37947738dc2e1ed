import { randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../canonical/json.ts'
import type { SecretKeeper } from '../secret-key.ts'
import { openedConnection } from './connection.ts'
import { channelOut, connectionWords, modelWords } from './entry-out.ts'
import { channelRow, credentialRows, modelRow, offerRows } from './entry-rows.ts'
import type { ChannelEntry, ModelEntry } from './gateway-file.ts'
import { libraryForChannel } from './library/admin-library.ts'
import { priceRow } from './price-row.ts'
import {
  type AllRows,
  addPrice,
  type ChannelRow,
  ensureAnyModel,
  lockRows,
  putChannel,
  putModel,
  readAllRows,
  replaceCredentials,
  replaceOffers,
  type Transaction,
} from './queries.ts'
import type { Price } from './snapshot.ts'

/**
 * All rows of the catalog, for a change of some. Other changes wait: what was read is true until the commit.
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

/** A channel with its credentials. They are undefined where this SECRET_KEY did not encrypt them. */
export interface StoredChannel {
  row: ChannelRow
  offers: AllRows['offers']
  credentials: string[] | undefined
  /** All settings with their secrets, as gateway.yaml would have them. */
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
 * Write a channel. The row, if there is one, becomes the admin's. `isAddressBounded`: its addresses are
 * within PRIVATE_ADDRESSES.
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

/** Write a model, and its price as a new version where it is another one. `source`: who has set the price. */
export async function writeModel(
  tx: Transaction,
  model: ModelEntry,
  { rows, source }: { rows: AllRows; source: string },
): Promise<void> {
  const existing = rows.models.find(({ id }) => id === model.id)
  await putModel(tx, { ...modelRow(model, 'admin'), disabledAt: existing?.disabledAt ?? null })
  const newest = rows.prices.find(({ modelId }) => modelId === model.id)
  const { source: _, ...before } = priceRow(undefined)
  const { source: __, ...price } = priceRow(model.price)
  const known = newest === undefined ? before : { ...newest, ...price }
  if (isDeepStrictEqual(known, newest ?? price)) return
  await writePrice(tx, model.id, model.price, source)
}

/** A new version of a price. It is in force from its commit on. */
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
