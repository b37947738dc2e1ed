import { parentPort } from 'node:worker_threads'
import type { ThreadJob } from '../../src/bodies/thread-jobs.ts'

// A thread for large bodies that does as the body says, for tests of the pool: `wait` waits until the test sets the first byte
// of the body to 0, `die` ends the thread, and any other body is answered at once.

parentPort?.on('message', (job: Exclude<ThreadJob, { name: 'answer' }>) => {
  const words = Buffer.from(job.input.bytes).toString()
  if (words.startsWith('die')) process.exit(1)
  const { buffer, byteOffset } = job.input.bytes
  if (words.startsWith('wait')) while (new Uint8Array(buffer)[byteOffset] !== 0);
  parentPort?.postMessage({ output: undefined })
})
