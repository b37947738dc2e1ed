import type { Context } from '../src/process/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'

const hourMs = 3_600_000
/** Less than the interval between sweeps, so that a lone process makes every sweep. */
const apart = 0.75

/**
 * Removes client files that have expired or were deleted, and the remains of unfinished uploads. It can run
 * in any number of processes.
 */
export function keepFiles(context: Context): { stop(): Promise<void> } {
  const { bounds, files, jobs, log } = context
  const stopping = new AbortController()
  let nextStorageMs = 0
  const work = async () => {
    if (await jobs.claimSweep('files', Math.floor(bounds.fileSweepMs * apart))) {
      const gone = await files.sweep(bounds.fileUploadMs, stopping.signal)
      if (gone > 0) log.info({}, `removed ${gone} client files`)
    }
    if (performance.now() < nextStorageMs || stopping.signal.aborted) return
    nextStorageMs = performance.now() + hourMs
    // Each machine has its own files, unless all machines share a storage.
    if (!files.storage.isShared || (await jobs.claimSweep('stored_files', hourMs * apart)))
      await files.sweepStorage()
  }
  const repetition = repeatedly(work, {
    pauseMs: bounds.fileSweepMs,
    onFailure: (error) => log.warn({ cause: redactText(String(error)) }, 'client files could not be swept'),
  })
  return {
    async stop() {
      stopping.abort()
      await repetition.stop()
    },
  }
}
