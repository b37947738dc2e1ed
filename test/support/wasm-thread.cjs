// A thread that works with WebAssembly and ends: of thread-ends-process.ts. Plain JavaScript, so that Node strips no types
// here, and the thread's time goes where the fault is.
'use strict'
const { parentPort, workerData } = require('node:worker_threads')

const { bytes, imports, calls, from, way } = workerData
const m = Object.fromEntries(Array.from({ length: imports }, (_, at) => [`f${at}`, () => {}]))
const { exports: own } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m })
for (let at = 0; at < imports; at++) own[`g${(at + from) % imports}`](calls)
if (way === 'exit') process.exit(0)
if (way === 'terminate') {
  parentPort.on('message', () => {})
  parentPort.postMessage('ready')
}
