// Loaded into the gateway of bench/bodies.ts with --import: on SIGUSR2 it prints the longest time that the event loop did not
// turn since the last signal, and the most processor time that the loop used between two turns, in milliseconds. The second
// figure does not count the time for which other programs had the processor.
import { isMainThread } from 'node:worker_threads'

const intervalMs = 2

if (isMainThread) {
  let last = performance.now()
  let lastCpuUs = cpuUs()
  let longest = 0
  let busiestUs = 0
  setInterval(() => {
    const now = performance.now()
    const nowCpuUs = cpuUs()
    longest = Math.max(longest, now - last - intervalMs)
    busiestUs = Math.max(busiestUs, nowCpuUs - lastCpuUs)
    last = now
    lastCpuUs = nowCpuUs
  }, intervalMs).unref()
  process.on('SIGUSR2', () => {
    process.stderr.write(`loop-gap ${longest.toFixed(1)} ${(busiestUs / 1000).toFixed(1)}\n`)
    longest = 0
    busiestUs = 0
  })
}

function cpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
