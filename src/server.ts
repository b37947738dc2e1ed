import { enableCompileCache } from 'node:module'
import { execArgv } from 'node:process'
import { compiledCode } from './runtime/compiled-code.ts'

/**
 * Flags that V8 reads only when a process starts. Chunks of streams and bodies live outside V8's heap and are
 * short-lived, but their memory is only freed after a collection of the young generation. With the default
 * size of the young generation, 32 MB and more, V8 would instead collect the whole heap several times a
 * second. Such small collections need no helper threads.
 */
const heapFlags = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/** Whether this process was started with our flags or with the operator's. */
const hasHeapFlags = execArgv.some((flag) => flag.startsWith('--max-semi-space-size'))
const nodeArgs = hasHeapFlags ? execArgv : [...heapFlags, ...execArgv]

/**
 * Replaces this process with one that has our flags, unless it already has them, runs on Windows or has a
 * parent with a channel to it.
 */
function restartWithFlags(): void {
  // Windows has no execve, and a parent with a channel to this process would lose the channel.
  if (hasHeapFlags || process.platform === 'win32' || process.channel) return
  process.execve?.(process.execPath, [process.execPath, ...nodeArgs, ...process.argv.slice(1)], {
    NODE_COMPILE_CACHE: compiledCode.directory,
    NODE_COMPILE_CACHE_PORTABLE: '1',
    ...process.env,
  })
}

restartWithFlags()
enableCompileCache(compiledCode)
const { runProcesses } = await import('./process/processes.ts')
// This is the only import of the workers in src, so a process that does not run them does not load them.
await runProcesses(nodeArgs, async (supervisor) => {
  const { serve } = await import('./process/serve.ts')
  await serve(async (context) => (await import('../workers/main.ts')).startWorkers(context), supervisor)
})
