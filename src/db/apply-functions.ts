import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql } from 'postgres'

/** A folder with one SQL function per file, and their common version. */
export interface FunctionFolder {
  path: string
  /** Must be increased with every change of a file. */
  version: number
}

/** Increase it with every change in functions/. The tests check it against a hash of the folder. */
export const functionsVersion = 18

const ownFunctions: FunctionFolder = {
  path: fileURLToPath(new URL('./functions', import.meta.url)),
  version: functionsVersion,
}

/**
 * Creates or replaces the functions whose files have changed, in one transaction. Must be called after the
 * migrations and under their lock. Returns the names of the changed functions.
 * Does nothing if the database has functions of a newer version: during a rolling upgrade, an old process can
 * start after a new one and must not restore its old functions. The comment of each function records its
 * version and the hash of its text.
 */
export async function applyFunctions(session: Sql, folder = ownFunctions): Promise<string[]> {
  const { version } = folder
  const changed = await changedFunctions(session, folder)
  if (changed.length === 0) return []
  await session.begin(async (tx) => {
    // A function can call a function of a later file.
    await tx`SET LOCAL check_function_bodies = off`
    for (const { name, text, hash } of changed) {
      await tx.unsafe(text)
      await tx.unsafe(`COMMENT ON FUNCTION ${name} IS 'tollgate ${version} ${hash}'`)
    }
  })
  return changed.map(({ name }) => name)
}

/** The functions that `applyFunctions` would create or replace. */
export async function changedFunctions(
  session: Sql,
  { path, version } = ownFunctions,
): Promise<FunctionFile[]> {
  const applied = await readApplied(session)
  if (Math.max(0, ...[...applied.values()].map((note) => note.version)) > version) return []
  return readFunctions(path).filter(({ name, hash }) => applied.get(name)?.hash !== hash)
}

/** Keyed by function name. */
async function readApplied(session: Sql): Promise<Map<string, { version: number; hash: string }>> {
  const rows = await session<{ name: string; note: string }[]>`
    SELECT p.proname AS name, d.description AS note
    FROM pg_proc p JOIN pg_description d ON d.objoid = p.oid AND d.classoid = 'pg_proc'::regclass
    WHERE p.pronamespace = current_schema()::regnamespace AND d.description LIKE 'tollgate %'`
  return new Map(
    rows.map(({ name, note }) => {
      const [, version = '0', hash = ''] = note.split(' ')
      return [name, { version: Number(version), hash }]
    }),
  )
}

export interface FunctionFile {
  name: string
  text: string
  /** SHA-256 of the text, in hexadecimal. */
  hash: string
}

/** The files of a folder, ordered by name. */
export function readFunctions(path = ownFunctions.path): FunctionFile[] {
  const files = readdirSync(path).filter((file) => file.endsWith('.sql'))
  return files.sort().map((file) => {
    const text = readFileSync(join(path, file), 'utf8')
    return { name: basename(file, '.sql'), text, hash: createHash('sha256').update(text).digest('hex') }
  })
}
