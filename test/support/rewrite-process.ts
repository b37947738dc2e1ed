// A process that removes the content of a tenant from an archived day, and ends itself with SIGKILL after a step:
// `node rewrite-process.ts OPTIONS DAY TENANT STEP`. Steps count from 1, over all tables.

import { withArchiver } from '../../src/usage/archive/archive-pass.ts'
import { rewriteWithout } from '../../src/usage/archive/rewrite-day.ts'
import { condition } from '../../src/usage/archive/where.ts'

const [options = '', day = '', tenant = '', step = ''] = process.argv.slice(2)
let reached = 0
const content = condition('tenant_id = ?', tenant)
await withArchiver(JSON.parse(options), (archiver) =>
  rewriteWithout(
    {
      ...archiver,
      reached() {
        reached++
        if (reached === Number(step)) process.kill(process.pid, 'SIGKILL')
      },
    },
    day,
    { content },
  ),
)
