// Loaded into the gateway of bench/bodies.ts with --import: on SIGUSR2 it prints the longest time that the event loop did not
// turn since the last signal, in milliseconds.
import { isMainThread } from 'node:worker_threads'

const intervalMs = 2

if (isMainThread) {
  let last = performance.now()
  let longest = 0
  setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - intervalMs)
    last = now
  }, intervalMs).unref()
  process.on('SIGUSR2', () => {
    process.stderr.write(`loop-gap ${longest.toFixed(1)}\n`)
    longest = 0
  })
}
