import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { GatewayClient, gatewayOptions } from './gateway.ts'
import { filters, queryOf } from './log-filters.ts'
import { json, value, whole } from './options.ts'

const rowsMost = 100_000
const pageRows = 200

export const logsFind = command({
  name: 'logs find',
  group: 'Look',
  does: 'find rows in the usage log of a running gateway, newest first',
  details:
    'The filters are those of the admin API (docs/reference/usage-log.md). A row must match all filters. A filter with several values matches any of them; an empty value matches rows that have none. --json prints a line of JSON for each row.',
  options: {
    from: value(
      'TIME',
      'only rows from this time on: 2026-11-26, 2026-11-26T03:00:00Z, or 15m, 2h or 7d ago',
      {
        read: momentText,
      },
    ),
    to: value('TIME', 'only rows before this time', { read: momentText }),
    limit: value('N', `the maximum number of rows to show; default 50`, { read: whole(1, rowsMost) }),
    json,
    ...gatewayOptions,
  },
  arguments: { filters },
  async run({ options, arguments: { filters }, terminal, ...call }) {
    const gateway = new GatewayClient({ options, ...call })
    const [{ ask, logPage }, { logHead, logLines }] = await Promise.all([
      import('./gateway-answers.ts'),
      import('./log-line.ts'),
    ])
    const { from, to, limit = 50, json } = options
    let shown = 0
    for (let cursor: string | null | undefined; cursor !== null && shown < limit; ) {
      const query = queryOf(filters)
      query.set('limit', String(Math.min(pageRows, limit - shown)))
      for (const [name, text] of Object.entries({ from, to, cursor })) if (text) query.set(name, text)
      const page = await terminal.during('searching', () =>
        ask(logPage, gateway, 'GET', 'requests', { query }),
      )
      if (!json && shown === 0 && page.data.length > 0) terminal.print(logHead(terminal.look))
      for (const row of page.data) {
        if (json) terminal.printJsonLine(row)
        else for (const line of logLines(row, terminal.look)) terminal.print(line)
      }
      shown += page.data.length
      cursor = page.next_cursor
      if (cursor !== null && shown >= limit)
        terminal.tell(`Showing ${shown} rows. There may be more: raise --limit.`)
    }
    if (shown === 0) terminal.tell('No rows match.')
    return exitCodes.done
  },
})

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function isUnit(text: string | undefined): text is keyof typeof units {
  return text !== undefined && text in units
}

/** `15m` means a quarter of an hour ago. Any other time is parsed by the gateway. */
function momentText(text: string): string {
  const [, amount = '', unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (isUnit(unit)) return new Date(Date.now() - Number(amount) * units[unit]).toISOString()
  if (/^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new Error(
    `must be a time such as 2026-11-26T03:00:00Z, or a time ago such as 15m, 2h or 7d, not ${JSON.stringify(text)}`,
  )
}
