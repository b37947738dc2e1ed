// Imports what a start loads, so that its compiled code is where each start looks for it: in an image, whose root may be read-only.
import { enableCompileCache, flushCompileCache } from 'node:module'

const entry = (name) => new URL(`../${name}.js`, import.meta.url).href
const { compiledCode } = await import(entry('src/runtime/compiled-code'))
enableCompileCache(compiledCode)
for (const name of [
  'src/process/processes',
  'src/process/serve',
  'src/commands/registry',
  'src/commands/serve-forever',
  'workers/main',
])
  await import(entry(name))
flushCompileCache()
// A library may hold something open.
process.exit()
