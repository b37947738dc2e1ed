import type { Connections, TypedQueries } from '../../db/connections.ts'
import { changeRows } from '../queries.ts'
import { applyRenewal } from './apply-library.ts'
import { claimRenewal } from './library-queries.ts'
import { type LibraryProvider, readLibrary } from './read-library.ts'

/**
 * Returns the address to fetch prices from, or undefined if no renewal is due or renewal is not configured.
 * Only one process receives it. The next renewal is due after a day, or an hour after a failure.
 */
export function renewalDue(db: TypedQueries): Promise<string | undefined> {
  return claimRenewal(db)
}

/**
 * Fetches prices and puts them in force. Returns the number of new prices. Rejects and changes nothing if the
 * data is invalid.
 */
export async function renewPrices(
  connections: Pick<Connections, 'db'>,
  url: string,
  withinMs = 60_000,
): Promise<number> {
  const fetched = await fetchLibrary(url, withinMs)
  return changeRows(connections, (tx) => applyRenewal(tx, fetched, new Date()))
}

async function fetchLibrary(url: string, withinMs: number): Promise<LibraryProvider[]> {
  // Loaded only in the thread that renews.
  const { request } = await import('undici')
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json', 'user-agent': 'tollgate/0.1' },
    signal: AbortSignal.timeout(withinMs),
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`${url} returned more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  // Redirects are not followed, because they could lead anywhere.
  if (statusCode !== 200) throw new Error(`${url} returned status ${statusCode}`)
  return readLibrary(JSON.parse(Buffer.concat(chunks).toString('utf8')))
}

/** The data is currently 2 MB. */
const bytesMax = 32 * 1024 * 1024
