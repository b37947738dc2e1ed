import { command } from './command.ts'
import { withDatabase } from './command-database.ts'
import { exitCodes } from './exit-codes.ts'
import { json, value } from './options.ts'
import { paint } from './terminal.ts'

export const ledgerVerify = command({
  name: 'ledger verify',
  group: 'Repair',
  does: 'recompute balances, budgets and sums, and report for each rule whether it holds',
  details: 'It is read-only. Exit code 1: a rule is broken.',
  options: {
    since: value('MONTH', 'ignore sums, charges and requests before this month, such as 2026-10', {
      read: firstDay,
    }),
    json,
  },
  arguments: {},
  async run({ options: { since, json }, terminal, ...call }) {
    const { verifyLedger } = await import('../ledger-tools/verify.ts')
    const verification = await withDatabase('ledger verify', { terminal, ...call }, ({ connections }) =>
      terminal.during('recomputing the ledger', () => verifyLedger(connections.sql, since)),
    )
    const { findings, requests, orphaned } = verification
    const broken = findings.filter(({ differences }) => differences > 0).length
    if (json) terminal.printJson({ rules_broken: broken, requests, orphaned, rules: findings })
    else {
      const { look } = terminal
      for (const { rule, differences, samples } of findings) {
        if (differences === 0) terminal.print(`${paint('holds ', 'green', look)}  ${rule}`)
        else terminal.print(`${paint('BROKEN', 'red', look)}  ${rule}: ${differences} differ`)
        for (const sample of samples) terminal.print(`          ${sample}`)
      }
      terminal.print(
        `${requests} requests, ${orphaned} of them orphaned; ${broken} of ${findings.length} rules broken`,
      )
    }
    return broken === 0 ? exitCodes.done : exitCodes.notWell
  },
})

/** Throws unless the text is a month. */
function firstDay(month: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return `${month}-01`
  throw new Error(`must be a month such as 2026-10, not ${JSON.stringify(month)}`)
}
