import { type Finding, findingsOf } from '../../canonical/finding.ts'
import type { Config } from '../../config/config.ts'
import { areFresh, whyNotBuilt } from './build.ts'

const { well, warning } = findingsOf('pages')

/** Checks whether a start has pages to serve. `root` is the top of the checkout or package. */
export async function checkPages({ pages, role }: Config, root: string): Promise<Finding[]> {
  if (pages.length === 0 || role === 'worker') return [well('pages.off', 'no pages are served')]
  if (whyNotBuilt(root) !== undefined)
    return [
      warning('pages.missing', 'the pages are not built, and vite, which builds them, is not installed', {
        why: 'The API works without them.',
        fix: 'Copy console/dist from a checkout in which npm run build:pages was run, or install vite:',
        run: 'npm ci --include=dev',
        docs: 'docs/reference/deployment.md#pages',
      }),
    ]
  return [
    well(
      'pages.built',
      (await areFresh(root))
        ? 'the pages are built'
        : 'the next start builds the pages; to build them now, run npm run build:pages',
    ),
  ]
}
