import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { runErasure } from '../../src/usage/erasure/run-erasure.ts'

// A process that works on erasures, slowly enough to be killed in the middle. It prints a line for each batch.

const [url = ''] = process.argv.slice(2)
const database = openDatabase(url, readConfig({}).bounds)
for (;;) {
  await runErasure({
    database,
    storage: { isShared: true, remove: async () => {} },
    shipAll: async () => {
      process.stdout.write('ready\n')
      return true
    },
    settleMs: 0,
    silentMs: 60_000,
    batchRows: 3,
    leaseMs: 300,
    waitMs: 0,
  })
}
