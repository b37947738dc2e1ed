#!/usr/bin/env node
// The command of this package, for any Node: runtime.cjs runs it under Node 24.
'use strict'
const { join } = require('node:path')
process.argv.splice(2, 0, join(__dirname, 'src', 'commands', 'command.ts'))
require('./runtime.cjs')
