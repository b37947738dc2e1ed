// In the place of the process that reads the archive: one where DuckDB is not installed.

import { missingDuck } from '../../src/usage/archive/duck.ts'
import type { ToReader } from '../../src/usage/archive/reader-messages.ts'

process.on('message', (message: ToReader) => {
  if (message.kind === 'ask') process.send?.({ id: message.id, failed: missingDuck, missing: false })
})
process.on('disconnect', () => process.exit())
