import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread. Every thread of this process must be started here, because V8 13.6, which is part of Node
 * 24, may free a piece of WebAssembly code twice when a thread ends while another one is working, which
 * crashes the whole process. Node uses WebAssembly in every thread to strip the types from our sources. With
 * collection of this code disabled, nothing is freed while the process lives, but nothing grows either,
 * because the next thread reuses the code of the previous one. docs/decisions/0060-threads-and-wasm-code.md
 * contains the measurements.
 */
export function startThread(script: URL, options: WorkerOptions): Worker {
  // Applies to the whole process immediately. Node does not accept this flag in NODE_OPTIONS.
  setFlagsFromString('--no-wasm-code-gc')
  return new Worker(script, options)
}
