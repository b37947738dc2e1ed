// Imports the modules of its arguments, and prints as JSON which files of packages and which modules of Node this has loaded.
import { registerHooks } from 'node:module'

const files: string[] = []
registerHooks({
  load(url, context, nextLoad) {
    const [, file] = url.split('/node_modules/')
    if (file !== undefined) files.push(file)
    return nextLoad(url, context)
  },
})
for (const name of process.argv.slice(2)) await import(new URL(`../../${name}`, import.meta.url).href)
process.stdout.write(JSON.stringify({ files, builtins: Reflect.get(process, 'moduleLoadList') }))
// A library may hold something open.
process.exit()
