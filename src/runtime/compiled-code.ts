import { join } from 'node:path'

/**
 * The cache of compiled code, which is inside the package folder, where no other user can write. A process
 * that finds all its code here never loads the TypeScript compiler, which saves 30 MB. Since the entry files
 * are part of that code, the cache must be set in the environment before the gateway's process reads them. It
 * is portable, so that it still fits when the folder is moved or copied.
 */
export const compiledCode = {
  directory: join(import.meta.dirname, '../../node_modules/.cache/tollgate'),
  portable: true,
}
