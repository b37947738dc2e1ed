// Asks the registry for known vulnerabilities of the production packages. Exit code 1: one is high or critical.
// A mirror may not answer such questions. Then nothing is known, which the output says, and that fails nobody's build.
'use strict'
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  cwd: join(__dirname, '..'),
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
const found = reportOf(stdout)?.vulnerabilities
if (found === undefined) {
  console.log('npm audit: the registry did not answer, so known vulnerabilities were not looked up')
} else {
  const severe = Object.values(found).filter(({ severity }) => ['high', 'critical'].includes(severity))
  for (const { name, severity, range } of severe) console.log(`npm audit: ${severity}: ${name} ${range}`)
  console.log(`npm audit: ${Object.keys(found).length} known, ${severe.length} high or critical`)
  process.exitCode = severe.length === 0 ? 0 : 1
}

function reportOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
