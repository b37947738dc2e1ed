import { fileStore } from './file-store.ts'
import type { ArchivePlace } from './options.ts'
import type { ArchiveStore } from './store.ts'

export async function openStore(place: ArchivePlace): Promise<ArchiveStore> {
  if (place.kind === 'files') return fileStore(place.directory)
  // A process that keeps the archive as files never loads the SDK of S3.
  const { s3Store } = await import('./s3-store.ts')
  return await s3Store(place.bucket)
}
