import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { flag, json } from './options.ts'
import { paint, plain } from './terminal.ts'

/** Wider lines are hard to read. */
const columnsMost = 110

export const doctor = command({
  name: 'doctor',
  group: 'Look',
  does: 'report what is wrong with this installation, and how to fix it',
  details:
    "It checks everything that a gateway with this environment needs, and changes nothing. Run it with the gateway's environment, as the gateway's user. Exit code 1: something is wrong.",
  options: {
    offline: flag('contact no channels and no buckets'),
    json,
  },
  arguments: {},
  async run({ options: { offline, json }, env, terminal, signal }) {
    const [{ examine }, { reportLines }] = await Promise.all([
      import('./doctor/examine.ts'),
      import('./doctor/report.ts'),
    ])
    const findings = await terminal.during('checking the installation', () =>
      examine({ env, offline, signal }),
    )
    const count = (verdict: string) => findings.filter((finding) => finding.verdict === verdict).length
    if (json)
      terminal.printJson({
        wrong: count('wrong'),
        warnings: count('warning'),
        skipped: count('skipped'),
        findings: findings.map(({ fix, ...finding }) => ({
          ...finding,
          ...(fix !== undefined && { do: fix }),
        })),
      })
    else {
      const { look } = terminal
      const columns = Math.min(look.columns ?? columnsMost, columnsMost)
      // Texts from elsewhere, such as from an upstream, may contain control characters.
      const shown = findings.map((finding) => ({
        ...finding,
        what: plain(finding.what),
        ...(finding.why !== undefined && { why: plain(finding.why) }),
      }))
      for (const line of reportLines(shown, { columns, paint: (text, colour) => paint(text, colour, look) }))
        terminal.print(line)
    }
    return count('wrong') === 0 ? exitCodes.done : exitCodes.notWell
  },
})
