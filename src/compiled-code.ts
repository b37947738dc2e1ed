import { join } from 'node:path'

/**
 * The cache of compiled code, below the packages, where no other user may write. A process that finds all its
 * code here never loads the TypeScript compiler, which saves 30 MB. The entries are part of that code, so the
 * environment of the gateway's process names the cache before it reads them.
 */
export const compiledCode = join(import.meta.dirname, '../node_modules/.cache/tollgate')
