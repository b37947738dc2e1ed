import { request } from 'undici'
import type { Connections, TypedQueries } from '../../db/connections.ts'
import { changeRows } from '../queries.ts'
import { applyRenewal } from './apply-library.ts'
import { claimRenewal } from './library-queries.ts'
import { type LibraryProvider, readLibrary } from './read-library.ts'

/**
 * The address to fetch prices from now; undefined: none is due, or gateway.yaml does not ask for it. Of all
 * processes one gets it. After a day, and an hour after a failure, it is due again.
 */
export function renewalDue(db: TypedQueries): Promise<string | undefined> {
  return claimRenewal(db)
}

/**
 * Fetch prices and put them in force. Returns how many are new. Rejects, and changes nothing, where the data
 * is not good.
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
  const { statusCode, body } = await request(url, {
    headers: { accept: 'application/json', 'user-agent': 'tollgate/0.1' },
    signal: AbortSignal.timeout(withinMs),
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error(`${url} answered with more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  // A redirect is not followed: it could lead anywhere.
  if (statusCode !== 200) throw new Error(`${url} answered with status ${statusCode}`)
  return readLibrary(JSON.parse(Buffer.concat(chunks).toString('utf8')))
}

/** The data currently has 2 MB. */
const bytesMax = 32 * 1024 * 1024
