import type { Config } from '../config.ts'
import { areFresh, whyNotBuilt } from '../pages/build.ts'
import { type Finding, findingsOf } from './finding.ts'

const { well, warning } = findingsOf('pages')

/** Whether a start has pages to serve. `root`: the top of the checkout or package. */
export async function checkPages({ pages, role }: Config, root: string): Promise<Finding[]> {
  if (pages.length === 0 || role === 'worker') return [well('pages.off', 'no pages are served')]
  if (whyNotBuilt(root) !== undefined)
    return [
      warning('pages.missing', 'there are no built pages, and vite, which builds them, is not installed', {
        why: 'The API works without them.',
        fix: 'Copy console/dist from where npm run build:pages has run, or install vite:',
        run: 'npm ci --include=dev',
        docs: 'docs/reference/deployment.md#pages',
      }),
    ]
  return [
    well(
      'pages.built',
      (await areFresh(root))
        ? 'the pages are built'
        : 'the next start builds the pages; until then: npm run build:pages',
    ),
  ]
}
