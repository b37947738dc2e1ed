import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { execArgv } from 'node:process'

/**
 * Flags that V8 takes only when a process starts. Chunks of streams and bodies live outside of its heap and die young,
 * but are given back only when the young generation is collected: let it grow to its default of 32 MB and up, and V8
 * collects the whole heap instead, several times a second. Collections this small are not worth helper threads.
 */
const heapFlags = ['--max-semi-space-size=4', '--no-parallel-scavenge']

/**
 * Below the packages, where nobody else may write. A process that finds its code here, this file and that of its threads
 * included, never loads the TypeScript compiler: 30 MB less. So it must know the place before it reads this file.
 */
const compiledCode = join(import.meta.dirname, '../node_modules/.cache/tollgate')

/** Every serving process is started with these, given or not. */
const isTold = execArgv.some((flag) => flag.startsWith('--max-semi-space-size'))
const nodeArgs = isTold ? execArgv : [...heapFlags, ...execArgv]

/** Start anew as the same process, however it was started. Not when the flags are told, nor under `--watch`. */
function startAnew(): void {
  // Windows has no execve. A parent that holds a channel to us would lose it.
  if (isTold || process.platform === 'win32' || process.channel) return
  process.execve?.(process.execPath, [process.execPath, ...nodeArgs, ...process.argv.slice(1)], {
    NODE_COMPILE_CACHE: compiledCode,
    ...process.env,
  })
}

startAnew()
enableCompileCache(compiledCode)
const { runProcesses } = await import('./processes.ts')
// The one place where src knows of the workers: a process that does not run them does not load them.
await runProcesses(nodeArgs, async (supervisor) => {
  const { serve } = await import('./serve.ts')
  await serve(async (context) => (await import('../workers/main.ts')).startWorkers(context), supervisor)
})
