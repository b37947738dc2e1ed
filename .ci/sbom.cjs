// Prints the packages that a production install may hold, with hashes and licences, as CycloneDX JSON: `npm run sbom > sbom.cdx.json`.
// npm itself cannot say which: with --omit=dev it leaves out packages that a development package needs too, and it marks one as
// development that stands in two places (seen with npm 11.19). The lock file knows.
'use strict'
const { execFileSync } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const lock = require('../package-lock.json')
const bom = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }),
)

const packaged = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
)
bom.components = bom.components.filter(({ name, version }) => packaged.has(`${name}@${version}`))
for (const component of bom.components) component.properties = []
// npm names it after the folder of the checkout.
bom.metadata.component.name = 'tollgate'
const shipped = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']))
bom.dependencies = bom.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => shipped.has(other)) }))

console.log(JSON.stringify(bom, null, 2))
