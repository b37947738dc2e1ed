import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { startThread } from '../../src/runtime/start-thread.ts'
import { manyImports } from './many-imports.ts'

/**
 * A process that starts ENDS threads, four at a time, and ends each in one of the three ways of a thread. It prints how many
 * ended. With UNMENDED=1 they start without startThread.
 */
const { ENDS = '', UNMENDED } = process.env
const ways = ['terminate', 'exit', 'return'] as const
const imports = 600
/** V8 makes the code of an import after a thousand. */
const calls = 1_500

const script = new URL('./wasm-thread.cjs', import.meta.url)
const bytes = manyImports(imports)
let begun = 0
let ended = 0
await Promise.all(Array.from({ length: 4 }, endInTurn))
console.log(`${ended} threads ended`)

async function endInTurn(): Promise<void> {
  while (begun < Number(ENDS)) {
    await endOne(begun++)
    ended++
  }
}

/** Threads begin at different imports, so that one asks for what another has let go. */
async function endOne(nth: number): Promise<void> {
  const workerData = { bytes, imports, calls, from: (nth * 389) % imports, way: ways[nth % ways.length] }
  const thread = UNMENDED === '1' ? new Worker(script, { workerData }) : startThread(script, { workerData })
  thread.on('message', () => void thread.terminate())
  await once(thread, 'exit')
}
