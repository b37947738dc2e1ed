import type { Context } from '../src/context.ts'
import { redactText } from '../src/redaction/redact.ts'
import { repeatedly } from '../src/runtime/repeatedly.ts'

const hourMs = 3_600_000
/** Less than the interval of a sweep, so that a process that is alone makes every sweep. */
const apart = 0.75

/**
 * Removes files of clients that have expired or were deleted, and what unfinished uploads left. Any number of
 * processes may run it.
 */
export function keepFiles(context: Context): { stop(): Promise<void> } {
  const { bounds, files, jobs, log } = context
  const stopping = new AbortController()
  let nextStorageMs = 0
  const work = async () => {
    if (await jobs.claimSweep('files', Math.floor(bounds.fileSweepMs * apart))) {
      const gone = await files.sweep(bounds.fileUploadMs, stopping.signal)
      if (gone > 0) log.info({}, `${gone} files of clients removed`)
    }
    if (performance.now() < nextStorageMs || stopping.signal.aborted) return
    nextStorageMs = performance.now() + hourMs
    // Each machine has its own, but where all share one.
    if (!files.storage.isShared || (await jobs.claimSweep('stored_files', hourMs * apart)))
      await files.sweepStorage()
  }
  const repetition = repeatedly(work, {
    pauseMs: bounds.fileSweepMs,
    onFailure: (error) =>
      log.warn({ cause: redactText(String(error)) }, 'files of clients could not be swept'),
  })
  return {
    async stop() {
      stopping.abort()
      await repetition.stop()
    },
  }
}
