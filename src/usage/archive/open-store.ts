import { fileStore } from './file-store.ts'
import type { ArchivePlace } from './options.ts'
import type { ArchiveStore } from './store.ts'

export async function openStore(place: ArchivePlace): Promise<ArchiveStore> {
  if (place.kind === 'files') return fileStore(place.directory)
  // Loaded on demand, so a process with a file-based archive never loads the S3 SDK.
  const { s3Store } = await import('./s3-store.ts')
  return await s3Store(place.bucket)
}
