import type { ShownLogRow } from './gateway-answers.ts'
import { type Look, paint, plain } from './terminal.ts'

const outcomes: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'grey'>> = {
  succeeded: 'green',
  refused: 'yellow',
  cancelled: 'grey',
}

const widths = { key: 20, model: 22, channel: 14, status: 3, outcome: 9, ms: 8, tokens: 13, cost: 11 }

/** A narrower terminal shows the request id on the second line. */
const wideColumns = 166
const indent = ''.padEnd(20)

const isWide = ({ columns }: Look) => columns === undefined || columns >= wideColumns

export function logHead(look: Look): string {
  const { key, model, channel, outcome, ms, tokens, cost } = widths
  const names = [
    'time (UTC)'.padEnd(19),
    'tenant/key'.padEnd(key),
    'model'.padEnd(model),
    'channel'.padEnd(channel),
    'outcome'.padEnd(outcome + 4),
    'ms'.padStart(ms),
    'in+out tokens'.padStart(tokens),
    'USD'.padStart(cost),
    ...(isWide(look) ? [' request'] : []),
  ]
  return paint(names.join(' '), 'bold', look)
}

/** Formats a row of the usage log as one line, with its error on a second line. */
export function logLines(row: ShownLogRow, look: Look): string[] {
  const colour = outcomes[row.outcome] ?? 'red'
  const outcome = `${String(row.status ?? '-').padStart(widths.status)} ${row.outcome.padEnd(widths.outcome)}`
  const line = [
    row.created_at.slice(0, 19).replace('T', ' '),
    cell(`${row.tenant?.name ?? '-'}/${row.key?.name ?? '-'}`, widths.key),
    cell(row.requested_model ?? row.endpoint, widths.model),
    cell(row.channel ?? '-', widths.channel),
    paint(outcome, colour, look),
    String(row.latency_ms.total ?? '-').padStart(widths.ms),
    tokensOf(row).padStart(widths.tokens),
    costOf(row.cost_nano_usd).padStart(widths.cost),
    ...(isWide(look) ? [` ${row.id}`] : []),
  ].join(' ')
  const error =
    row.error === null ? '' : plain(`${row.error.reason ?? row.error.kind}: ${row.error.message ?? ''}`)
  const second = [isWide(look) ? '' : row.id, error].filter((text) => text !== '').join(' ')
  if (second === '') return [line]
  const most = (look.columns ?? Number.POSITIVE_INFINITY) - indent.length
  const shown = second.length > most ? `${second.slice(0, most - 1)}…` : second
  return [line, `${indent}${paint(shown, row.error === null ? 'grey' : colour, look)}`]
}

function cell(text: string, width: number): string {
  const shown = plain(text)
  return shown.length > width ? `${shown.slice(0, width - 1)}…` : shown.padEnd(width)
}

function tokensOf({ tokens }: ShownLogRow): string {
  if (tokens === null) return '-'
  const { input, cache_read, cache_write, output, reasoning } = tokens
  return `${input + cache_read + cache_write}+${output + reasoning}`
}

/** Six decimals, rounded up, so that a request with a cost never appears to be free. */
function costOf(nano: string | null): string {
  if (nano === null) return '-'
  const micro = (BigInt(nano) + 999n) / 1000n
  return `${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, '0')}`
}
