#!/usr/bin/env node
// The command of this package, for any Node: runtime.cjs runs it under Node 24.
'use strict'
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const folder = join(__dirname, 'src', 'commands')
// The published package has JavaScript in the place of TypeScript.
const script = ['main.js', 'main.ts'].map((name) => join(folder, name)).find(existsSync)
process.argv.splice(2, 0, script)
require('./runtime.cjs')
