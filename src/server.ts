import { enableCompileCache } from 'node:module'
import { execArgv } from 'node:process'
import { compiledCode } from './compiled-code.ts'

/**
 * Flags that V8 reads only when a process starts. Chunks of streams and bodies live outside of V8's heap and
 * die young, but their memory is free only after a collection of the young generation. With a young
 * generation of the default size, 32 MB and more, V8 collects the whole heap instead, several times a second.
 * Such small collections need no helper threads.
 */
const heapFlags = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/** True when this process was started with our flags, or with the operator's. */
const hasHeapFlags = execArgv.some((flag) => flag.startsWith('--max-semi-space-size'))
const nodeArgs = hasHeapFlags ? execArgv : [...heapFlags, ...execArgv]

/** Replace this process by one with our flags, unless it has them or runs under `--watch`. */
function restartWithFlags(): void {
  // Windows has no execve. A parent that holds a channel to us would lose it.
  if (hasHeapFlags || process.platform === 'win32' || process.channel) return
  process.execve?.(process.execPath, [process.execPath, ...nodeArgs, ...process.argv.slice(1)], {
    NODE_COMPILE_CACHE: compiledCode,
    ...process.env,
  })
}

restartWithFlags()
enableCompileCache(compiledCode)
const { runProcesses } = await import('./processes.ts')
// Only here does src import the workers: a process that does not run them does not load them.
await runProcesses(nodeArgs, async (supervisor) => {
  const { serve } = await import('./serve.ts')
  await serve(async (context) => (await import('../workers/main.ts')).startWorkers(context), supervisor)
})
