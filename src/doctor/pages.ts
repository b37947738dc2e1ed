import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { hashOfSources } from '../pages/sources.ts'
import { readRecord } from '../pages/swap.ts'
import { type Finding, findingsOf } from './finding.ts'

const { well, warning } = findingsOf('pages')

/** Whether a start has pages to serve. `root`: the top of the checkout or package. */
export async function checkPages({ pages, role }: Config, root: string): Promise<Finding[]> {
  if (pages.length === 0 || role === 'worker') return [well('pages.off', 'no pages are served')]
  const console = join(root, 'console')
  const isBuilt = existsSync(join(console, 'dist/index.html'))
  const builds = existsSync(join(console, 'src')) && hasVite(console)
  if (!isBuilt && !builds)
    return [
      warning('pages.missing', 'there are no built pages, and vite, which builds them, is not installed', {
        why: 'The API works without them.',
        fix: 'Copy console/dist from where npm run build:pages has run, or install vite:',
        run: 'npm ci --include=dev',
        docs: 'docs/reference/deployment.md#pages',
      }),
    ]
  const isFresh =
    isBuilt && (!builds || (await readRecord(join(console, 'dist')))?.hash === (await hashOfSources(root)))
  return [
    well(
      'pages.built',
      isFresh ? 'the pages are built' : 'the next start builds the pages; until then: npm run build:pages',
    ),
  ]
}

function hasVite(console: string): boolean {
  try {
    createRequire(join(console, 'package.json')).resolve('vite')
    return true
  } catch {
    return false
  }
}
