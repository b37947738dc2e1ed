import * as fs from 'node:fs'
import { join } from 'node:path'
import { FormerSchemaError } from './schema-version.ts'

/**
 * Throws FormerSchemaError if DATA_DIR contains an unshipped journal of a former version. Makes no changes.
 */
export function requireNoFormerJournals(dataDir: string): void {
  const found = formerJournals(dataDir)
  if (found.length > 0) throw new FormerSchemaError(`not shipped: ${found.join(', ')}`)
}

/** The folders of unshipped journals that versions before the first release have left in DATA_DIR. */
export function formerJournals(dataDir: string): string[] {
  const root = join(dataDir, 'journal')
  // If it is a file, the start reports that.
  if (fs.statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return (
    fs
      .readdirSync(root)
      .filter((name) => /^[0-9a-f-]{36}(\.2)?$/.test(name))
      .map((name) => join(root, name))
      // A process leaves this file once Postgres has the whole journal.
      .filter((folder) => !fs.existsSync(join(folder, 'shipped')))
      .filter((folder) => folder.endsWith('.2') || formerKinds.includes(firstKind(folder)))
  )
}

/** The frame kinds of the oldest versions, whose folders have the same names as ours. */
const formerKinds: readonly (number | undefined)[] = [1, 2]

/** Undefined if the journal has no frame or cannot be read, which is reported when it is shipped. */
function firstKind(folder: string): number | undefined {
  try {
    const segment = fs.readdirSync(folder).find((name) => name.endsWith('.log'))
    if (segment === undefined) return undefined
    const file = fs.openSync(join(folder, segment), 'r')
    // The kind follows a length and a checksum.
    const head = Buffer.alloc(9)
    fs.readSync(file, head)
    fs.closeSync(file)
    return head[8]
  } catch {
    return undefined
  }
}
