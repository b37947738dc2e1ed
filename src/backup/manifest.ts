import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** How the database of a backup was read. */
export const methods = ['copy', 'pg_dump', 'pg_basebackup'] as const
export type Method = (typeof methods)[number]

/** What a database has, in a few numbers. Money is nano-USD in decimal digits. */
const facts = z.strictObject({
  tenants: z.int(),
  keys: z.int(),
  channels: z.int(),
  balancesNano: z.string().regex(/^-?\d+$/),
  /** The id of the newest row of the usage log, a uuidv7; absent: the log is empty. */
  newestRequest: z.string().optional(),
})
export type BackupFacts = z.output<typeof facts>

const storedFile = z.strictObject({ path: z.string(), bytes: z.int(), sha256: z.string() })
export type StoredFile = z.output<typeof storedFile>

const manifest = z.strictObject({
  format: z.literal(1),
  /** Of Tollgate. */
  release: z.string(),
  method: z.enum(methods),
  /** `server_version` of Postgres. */
  postgres: z.string(),
  /** The state of the backup lies between these two moments, which are the same one for pg_dump. */
  from: z.strictObject({ at: z.iso.datetime(), facts }),
  to: z.strictObject({ at: z.iso.datetime(), facts }),
  /** Parts of DATA_DIR that it has. */
  parts: z.array(z.string()),
  files: z.array(storedFile),
})

/** `manifest.json`: what a backup has. It is written last, so a folder without it is not a backup. */
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

/** Throws an Error for the operator when the folder has no backup that this release can read. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, manifestFile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`${folder} is not a whole backup: it has no ${manifestFile} that can be read`, { cause })
  }
  try {
    return manifest.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(`${path} is damaged, or of a later release of Tollgate`, { cause })
  }
}
