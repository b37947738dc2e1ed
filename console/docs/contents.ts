import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One part of the table of contents, in docs/contents.json. */
export interface Group {
  title: string
  /** Paths from docs/, such as `tutorials/images.md`. */
  pages: string[]
}

export interface Contents {
  groups: Group[]
  /** What is wrong with docs/contents.json, in words. */
  faults: string[]
}

/**
 * The order of the documents, from docs/contents.json. A pattern such as `clients/*.md` stands for all files
 * that no group names; so a new document has a place at once.
 */
export function readContents(docs: string): Contents {
  const written = JSON.parse(readFileSync(join(docs, 'contents.json'), 'utf8')) as Group[]
  const all = globSync('**/*.md', { cwd: docs }).sort()
  const named = new Set(written.flatMap(({ pages }) => pages))
  const faults: string[] = []
  const placed = new Set<string>()
  const groups = written.map(({ title, pages }) => ({
    title,
    pages: pages.flatMap((page) => {
      const found = page.includes('*')
        ? globSync(page, { cwd: docs })
            .sort()
            .filter((path) => !named.has(path))
        : [page]
      return found.filter((path) => {
        if (!existsSync(join(docs, path))) faults.push(`${title} names ${path}, which is not there`)
        else if (placed.has(path)) faults.push(`${path} is named twice`)
        else {
          placed.add(path)
          return true
        }
        return false
      })
    }),
  }))
  for (const path of all) if (!placed.has(path)) faults.push(`no group names ${path}`)
  return { groups, faults }
}

/** `reference/README.md` -> `/docs/reference`, `runbook.md` -> `/docs/runbook`. */
export function routeOf(path: string): string {
  return `/docs/${path.replace(/(^|\/)README\.md$/, '').replace(/\.md$/, '')}`.replace(/\/$/, '')
}
