import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** build.json: what stands in console/dist, and of which sources it was made. */
export interface BuildRecord {
  hash: string
  files: string[]
}

const recordName = 'build.json'

/** Undefined: nobody has built yet, or vite was called by hand. */
export async function readRecord(folder: string): Promise<BuildRecord | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, recordName), 'utf8')) as BuildRecord
  } catch {
    return undefined
  }
}

/**
 * Move a new build into the folder that is served. index.html goes last: until then no page names a new file, and from then
 * on all that it names is there. Files of the build before stay, for pages that are open; older ones are removed.
 */
export async function swapIn(made: string, folder: string, hash: string): Promise<void> {
  const files = await filesIn(made)
  const before = await readRecord(folder)
  const ordered = [...files.filter((file) => file !== 'index.html'), 'index.html']
  for (const file of ordered) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await rename(join(made, file), join(folder, file))
  }
  const record: BuildRecord = { hash, files }
  await writeFile(join(made, recordName), JSON.stringify(record))
  await rename(join(made, recordName), join(folder, recordName))
  await rm(made, { recursive: true, force: true })
  const kept = new Set([...files, ...(before?.files ?? []), recordName])
  for (const file of await filesIn(folder)) {
    if (!kept.has(file)) await rm(join(folder, file), { force: true })
  }
}

/** Paths from the folder. Without files of a build that runs, and locks. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('.'))
}
