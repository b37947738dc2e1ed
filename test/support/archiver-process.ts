// A process that archives as the product's, and ends itself with SIGKILL after a step: `node archiver-process.ts OPTIONS STEP`.
// Steps count from 1, over all days and tables.

import { archivePass } from '../../src/usage/archive/archive-pass.ts'

const [options = '', step = ''] = process.argv.slice(2)
let reached = 0
await archivePass(JSON.parse(options), () => {
  reached++
  if (reached === Number(step)) process.kill(process.pid, 'SIGKILL')
})
