/** Where this gateway serves images: the pages' policy lets those show. */
const ownFiles = '/v1/images/files/'
/** How long before its end a link is no longer used. */
const spareMs = 60_000
const linksMax = 2_000

/**
 * The address by which a page of this gateway shows an image; undefined: it is in a bucket, from where the
 * pages' policy loads nothing. A link of the API may name another host for the same gateway (`PUBLIC_URL`),
 * so only its path counts.
 */
export function ownAddress(link: string): string | undefined {
  if (!URL.canParse(link)) return undefined
  const { pathname, search } = new URL(link)
  return pathname.startsWith(ownFiles) ? `${pathname}${search}` : undefined
}

/**
 * Keeps the first link of each image while it works. Each reading of a job gives new ones, and a live page
 * must not load its pictures again every two seconds.
 */
export function linkMemory(now: () => number = Date.now): (link: string) => string | undefined {
  const kept = new Map<string, { address: string; until: number }>()
  return (link) => {
    const address = ownAddress(link)
    if (address === undefined) return undefined
    const { pathname, searchParams } = new URL(link)
    const former = kept.get(pathname)
    if (former !== undefined && former.until - spareMs > now()) return former.address
    if (kept.size >= linksMax) kept.clear()
    kept.set(pathname, { address, until: Number(searchParams.get('expires') ?? 0) * 1_000 })
    return address
  }
}

/** Of all pages. */
export const addressOf = linkMemory()
