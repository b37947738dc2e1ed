import { copyFile, mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ArchiveStore, MissingFileError } from './store.ts'

/** The archive as files in a directory, which all processes must share. */
export function fileStore(directory: string): ArchiveStore {
  const pathOf = (name: string) => join(directory, name)
  return {
    async put(name, path) {
      const target = pathOf(name)
      const unfinished = unfinishedOf(target)
      await mkdir(dirname(target), { recursive: true })
      await copyFile(path, unfinished)
      await sync(unfinished)
      await rename(unfinished, target)
      await sync(dirname(target))
      await sync(dirname(dirname(target)))
    },
    async fetch(name, path) {
      await copyFile(pathOf(name), path).catch((error: unknown) => {
        if (isMissing(error))
          throw new MissingFileError(`the archive does not contain the file ${name}`, { cause: error })
        throw error
      })
    },
    pathOf,
    async remove(name) {
      const target = pathOf(name)
      await rm(unfinishedOf(target), { force: true })
      await rm(target, { force: true })
      // Fails if the day has other files, which is fine.
      await rmdir(dirname(target)).catch(() => {})
    },
    close() {},
  }
}

/** The name begins with a dot, because engines that read the directory ignore such files. */
function unfinishedOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.unfinished`)
}

async function sync(path: string): Promise<void> {
  const file = await open(path)
  await file.sync().finally(() => file.close())
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
