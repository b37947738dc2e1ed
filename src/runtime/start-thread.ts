import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Start a thread. Every thread of this process must come from here: V8 13.6, which is in Node 24, may free a
 * piece of WebAssembly's code twice when a thread ends while another one works, and the whole process dies of
 * it. Node strips the types of our sources with WebAssembly, in every thread. Without its collection nothing
 * is freed while the process lives, and nothing grows: the next thread finds the code of the one before.
 * docs/decisions/0060-threads-and-wasm-code.md has the figures.
 */
export function startThread(script: URL, options: WorkerOptions): Worker {
  // Of the whole process, at once. Node takes no such flag from NODE_OPTIONS.
  setFlagsFromString('--no-wasm-code-gc')
  return new Worker(script, options)
}
