// The process that archives: one pass, told by a message, and answered by one. It may be killed at any moment.

import { type ArchivePass, archivePass } from './archive-pass.ts'
import type { ArchiverOptions } from './options.ts'

/** `null`: another archiver works. */
export type FromArchiver = { pass: ArchivePass | null } | { failed: string }

process.on('disconnect', () => process.exit())
process.once('message', (options: ArchiverOptions) => {
  void archivePass(options)
    .then(
      (pass): FromArchiver => ({ pass: pass ?? null }),
      (error: unknown): FromArchiver => ({ failed: error instanceof Error ? error.message : String(error) }),
    )
    .then((message) => process.send?.(message, () => process.exit()))
})
