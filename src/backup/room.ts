import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Throws an Error when the disk of `folder` has no room for these bytes: neither Postgres nor the journal
 * must run out of it.
 */
export function refuseWithoutRoom(folder: string, bytes: number): void {
  const place = dirname(folder)
  const { bavail, bsize } = statfsSync(place)
  if (bavail * bsize < bytes * 1.05)
    throw new Error(`${place} has room for ${bavail * bsize} bytes, and the backup needs ${bytes}`)
}
