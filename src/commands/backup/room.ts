import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Throws an Error if the disk of `folder` does not have room for these bytes, because neither Postgres nor
 * the journal must run out of space.
 */
export function refuseWithoutRoom(folder: string, bytes: number): void {
  const place = dirname(folder)
  const { bavail, bsize } = statfsSync(place)
  if (bavail * bsize < bytes * 1.05)
    throw new Error(
      `${place} has room for ${bavail * bsize} bytes, but the backup needs ${bytes}: free some space`,
    )
}
