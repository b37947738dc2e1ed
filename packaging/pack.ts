import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildPages } from '../src/process/pages/build.ts'
import { stage } from './stage.ts'

/**
 * `npm run package [-- --name @you/tollgate] [--out FOLDER]` makes the tarball of the npm package: JavaScript in the place of
 * TypeScript, which Node does not take below node_modules, and the pages, built. Without a name it is private: it can be installed
 * from its file, and npm refuses to publish it.
 */

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { name: { type: 'string' }, out: { type: 'string', default: '.' } } })

await buildPages(root, () => process.stderr.write('building the pages\n'))

const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
try {
  const files = stage(root, folder, values.name)
  process.stderr.write(`${files} files\n`)
  execFileSync('npm', ['pack', folder, '--pack-destination', resolve(values.out), '--loglevel', 'error'], {
    stdio: 'inherit',
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
