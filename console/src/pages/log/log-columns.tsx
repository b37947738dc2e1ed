import type { ReactNode } from 'react'
import { Clock, Duration, Money, None, Tokens } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { State } from '../../parts/state.tsx'
import type { Tone } from '../../parts/tone.ts'
import { columnFields, textIn } from './log-filters.ts'
import type { Row } from './log-query.ts'

/** How a row ended, in words: `200`, `529 upstream_overloaded`, `cancelled`. */
export function Ending({ row }: { row: Pick<Row, 'status' | 'outcome' | 'error'> }) {
  const { status, outcome, error } = row
  if (outcome === 'succeeded') return <span className="tg-number">{status}</span>
  return (
    <State tone={toneOf(row) ?? 'quiet'}>
      {status} {error?.kind ?? outcome}
    </State>
  )
}

export function toneOf({ outcome }: Pick<Row, 'outcome'>): Tone | undefined {
  if (outcome === 'failed' || outcome === 'orphaned') return 'bad'
  if (outcome === 'refused') return 'warning'
  return outcome === 'cancelled' ? 'quiet' : undefined
}

function word(text: string | null | undefined): ReactNode {
  return text === null || text === undefined || text === '' ? <None /> : <span title={text}>{text}</span>
}

/** What came in for the model: at the full rate, from the cache and into it. */
export function inputOf({ tokens }: Pick<Row, 'tokens'>): number | null {
  return tokens === null ? null : tokens.input + tokens.cache_read + tokens.cache_write
}

export function outputOf({ tokens }: Pick<Row, 'tokens'>): number | null {
  return tokens === null ? null : tokens.output + tokens.reasoning
}

/** A column whose id is the filter that its cells set. */
function plain(
  id: string,
  head: string,
  width: number,
  value: (row: Row) => string | null | undefined,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return {
    id,
    head,
    width,
    cell: (row) => word(value(row)),
    value: (row) => value(row) ?? undefined,
    ...more,
  }
}

/**
 * All columns of the log, in the usual order. Those of numbers are as wide as what stands in them; names are
 * cut, and have a title.
 */
export const logColumns: readonly Column<Row>[] = [
  {
    id: 'created_at',
    head: 'Time',
    width: 126,
    beside: 126,
    sort: 'created_at',
    cell: (row, above) => <Clock at={row.created_at} after={above?.created_at} />,
  },
  {
    id: 'key',
    head: 'Tenant / key',
    width: 104,
    grows: true,
    isWide: true,
    value: (row) => row.key?.name ?? undefined,
    cell: ({ tenant, key }) =>
      tenant === null ? (
        <None why="The caller is not known" />
      ) : (
        <span title={`${tenant.name ?? '?'} / ${key?.name ?? '?'}`}>
          {tenant.name ?? '?'} <span className="tg-quiet">/ {key?.name ?? '?'}</span>
        </span>
      ),
  },
  {
    id: 'model',
    head: 'Model',
    about: 'The model that was asked for, and the one that answered',
    width: 96,
    beside: 72,
    grows: true,
    value: (row) => row.requested_model ?? row.served_model ?? undefined,
    cell: ({ requested_model, served_model }) =>
      served_model === null || served_model === requested_model ? (
        word(requested_model)
      ) : (
        <span title={`${requested_model ?? '?'} → ${served_model}`}>
          {requested_model ?? '?'} <span className="tg-quiet">→ {served_model}</span>
        </span>
      ),
  },
  plain('channel', 'Channel', 84, (row) => row.channel, { isWide: true }),
  {
    id: 'status',
    head: 'Status',
    // Wide enough for 529 upstream_overloaded.
    width: 204,
    beside: 204,
    value: (row) => String(row.status),
    cell: (row) => <Ending row={row} />,
  },
  {
    id: 'input',
    head: 'In',
    about: 'Input tokens, those of the cache included',
    width: 62,
    align: 'right',
    isWide: true,
    cell: (row) => <Tokens value={inputOf(row)} />,
  },
  {
    id: 'output',
    head: 'Out',
    about: 'Output tokens, those of reasoning included',
    width: 62,
    align: 'right',
    isWide: true,
    cell: (row) => <Tokens value={outputOf(row)} />,
  },
  {
    id: 'cost',
    head: 'Cost',
    width: 100,
    beside: 92,
    sort: 'cost',
    align: 'right',
    isWide: true,
    cell: (row) => <Money nanoUsd={row.cost_nano_usd} />,
  },
  {
    id: 'first_token',
    head: 'First token',
    width: 80,
    sort: 'first_token_ms',
    align: 'right',
    isWide: true,
    cell: (row) => <Duration ms={row.latency_ms.first_token} />,
  },
  {
    id: 'total',
    head: 'Total',
    width: 86,
    sort: 'total_ms',
    align: 'right',
    isWide: true,
    cell: (row) => <Duration ms={row.latency_ms.total} />,
  },
  plain('tenant', 'Tenant', 112, (row) => row.tenant?.name, { isExtra: true }),
  { id: 'error', head: 'Error', width: 240, isExtra: true, cell: (row) => word(row.error?.message) },
  plain('group', 'Group', 104, (row) => row.group?.name, { isExtra: true }),
  plain('tag', 'Tags', 144, (row) => row.tags[0], {
    isExtra: true,
    cell: (row) => word(row.tags.join(', ')),
  }),
  plain('stream', 'Stream', 72, (row) => String(row.stream), {
    isExtra: true,
    cell: (row) => (row.stream ? 'stream' : <None />),
  }),
  {
    id: 'queue',
    head: 'Before the call',
    width: 104,
    align: 'right',
    isExtra: true,
    cell: (row) => <Duration ms={row.latency_ms.queue} />,
  },
  { id: 'notes', head: 'Notes', width: 64, align: 'right', isExtra: true, cell: (row) => row.notes.length },
  plain('folded', 'Stands for', 88, (row) => String(row.folded), { isExtra: true, align: 'right' }),
  ...columnFields.map(
    (field): Column<Row> =>
      plain(field.name, field.title, field.width ?? 0, (row) => textIn(row, field), {
        isExtra: true,
        ...(field.kind === 'number' ? { align: 'right' } : {}),
      }),
  ),
]
