import * as fs from 'node:fs'
import { join } from 'node:path'
import { FormerSchemaError } from './schema-version.ts'

/** Throws FormerSchemaError where a journal of a former version waits in DATA_DIR. It changes nothing. */
export function requireNoFormerJournals(dataDir: string): void {
  const found = formerJournals(dataDir)
  if (found.length > 0) throw new FormerSchemaError(`not shipped: ${found.join(', ')}`)
}

/**
 * The folders of journals that versions before the first release have left in DATA_DIR, and that are not
 * shipped.
 */
export function formerJournals(dataDir: string): string[] {
  const root = join(dataDir, 'journal')
  // Where it is a file, the start says so.
  if (fs.statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return (
    fs
      .readdirSync(root)
      .filter((name) => /^[0-9a-f-]{36}(\.2)?$/.test(name))
      .map((name) => join(root, name))
      // A process leaves this file where Postgres has all of it.
      .filter((folder) => !fs.existsSync(join(folder, 'shipped')))
      .filter((folder) => folder.endsWith('.2') || formerKinds.includes(firstKind(folder)))
  )
}

/** Of the frames of the oldest versions, whose folders have the same names as ours. */
const formerKinds: readonly (number | undefined)[] = [1, 2]

/** Undefined: it has no frame, or it cannot be read, which is for the one who ships it to say. */
function firstKind(folder: string): number | undefined {
  try {
    const segment = fs.readdirSync(folder).find((name) => name.endsWith('.log'))
    if (segment === undefined) return undefined
    const file = fs.openSync(join(folder, segment), 'r')
    // After a length and a checksum.
    const head = Buffer.alloc(9)
    fs.readSync(file, head)
    fs.closeSync(file)
    return head[8]
  } catch {
    return undefined
  }
}
