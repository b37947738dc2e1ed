import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { methods } from './methods.ts'

/** A few numbers that characterise a database. Money is in nano-USD, as decimal digits. */
const facts = z.strictObject({
  tenants: z.int(),
  keys: z.int(),
  channels: z.int(),
  balancesNano: z.string().regex(/^-?\d+$/),
  /** The id (a uuidv7) of the newest row in the usage log; absent if the log is empty. */
  newestRequest: z.string().optional(),
})
export type BackupFacts = z.output<typeof facts>

const storedFile = z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string() })
export type StoredFile = z.output<typeof storedFile>

const manifest = z.strictObject({
  format: z.literal(1),
  /** The Tollgate release. */
  release: z.string(),
  method: z.enum(methods),
  /** The `server_version` of Postgres. */
  postgres: z.string(),
  /** The backup's state lies between these two moments, which are the same for pg_dump. */
  from: z.strictObject({ at: z.iso.datetime(), facts }),
  to: z.strictObject({ at: z.iso.datetime(), facts }),
  /** The parts of DATA_DIR that the backup contains. */
  parts: z.array(z.string()),
  files: z.array(storedFile),
})

/**
 * The contents of a backup, from `manifest.json`. It is written last, so a folder without it is not a backup.
 */
export type Manifest = z.output<typeof manifest>

export const manifestFile = 'manifest.json'

export function writeManifest(folder: string, of: Manifest): void {
  const files = of.files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  writeFileSync(join(folder, manifestFile), `${JSON.stringify({ ...of, files }, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  })
}

/** Throws an Error for the operator if the folder does not contain a backup that this release can read. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, manifestFile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`${folder} is not a complete backup: ${manifestFile} is missing or unreadable`, { cause })
  }
  try {
    return manifest.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(`${path} is damaged, or was written by a later release of Tollgate`, { cause })
  }
}
