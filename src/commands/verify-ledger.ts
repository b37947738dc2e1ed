import { parseArgs } from 'node:util'
import { configFromEnvironment } from '../config.ts'
import { verifyLedger } from '../ledger/verify.ts'
import { openCommandDatabase } from './command-database.ts'

/**
 * `npm run ledger:verify` prints for each rule of the ledger whether it holds, and exits with 1 when one does not.
 * `--since 2026-10` leaves out what is older than that month.
 */
async function main(): Promise<void> {
  const since = firstDay(parseArgs({ options: { since: { type: 'string' } } }).values.since)
  const { config } = configFromEnvironment()
  const database = await openCommandDatabase(config, 'verify')
  try {
    const { findings, requests, orphaned } = await database.whenReachable(() =>
      verifyLedger(database.connections.sql, since),
    )
    for (const { rule, differences, samples } of findings) {
      console.log(
        `${differences === 0 ? 'holds ' : 'BROKEN'}  ${rule}${differences === 0 ? '' : `: ${differences} differ`}`,
      )
      for (const sample of samples) console.log(`          ${sample}`)
    }
    const broken = findings.filter(({ differences }) => differences > 0).length
    console.log(
      `${requests} requests, ${orphaned} of them orphaned; ${broken} of ${findings.length} rules broken`,
    )
    if (broken > 0) process.exitCode = 1
  } finally {
    await database.close()
  }
}

/** Throws unless the text is a month. */
function firstDay(month: string | undefined): string | undefined {
  if (month === undefined || /^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return month && `${month}-01`
  throw new Error(`--since must be a month such as 2026-10, not ${JSON.stringify(month)}`)
}

main().catch((error: unknown) => {
  console.error(`The ledger cannot be verified: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(2)
})
