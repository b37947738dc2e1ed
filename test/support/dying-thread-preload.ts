import { isMainThread, parentPort } from 'node:worker_threads'

// Loaded into Tollgate with --import: a thread for large bodies ends in the middle of a job whose body has these words.

export const lastWords = 'This body ends its thread.'

if (!isMainThread) {
  parentPort?.on('message', (job: { input?: { bytes?: Uint8Array } }) => {
    const { bytes } = job.input ?? {}
    if (bytes !== undefined && Buffer.from(bytes).includes(lastWords)) process.exit(1)
  })
}
