import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** What the pages are made of: their code, and the documents that they show. */
const folders = ['console', 'docs']
const left = new Set(['dist', 'node_modules'])

/** A hash over all sources of the pages, by name and content. */
export async function hashOfSources(root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of folders) {
    for (const path of await filesIn(join(root, folder))) {
      hash.update(relative(root, path).split(sep).join('/'))
      hash.update('\0')
      hash.update(
        createHash('sha256')
          .update(await readFile(path))
          .digest(),
      )
    }
  }
  return hash.digest('hex')
}

/** In the same order on every machine. */
async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (left.has(entry.name) || entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) found.push(...(await filesIn(path)))
    else if (entry.isFile()) found.push(path)
  }
  return found.sort()
}
