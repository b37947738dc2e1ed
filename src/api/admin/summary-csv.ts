import { usd } from '../../canonical/usd.ts'
import type { SummaryGroup, Sums } from '../../usage/rollup-queries.ts'
import { partColumns } from '../../usage/summary-pieces.ts'
import type { Part } from '../../usage/summary-range.ts'
import type { ExportColumn } from '../export/row-encoder.ts'

/** A column of a file of sums. `keys`: ids and names of the group, by the name of the column. */
export interface SummaryColumn extends ExportColumn {
  of(keys: Readonly<Record<string, unknown>>, group: SummaryGroup): unknown
}

/** What the file has: the parts of a group, ids beside their names, and then its sums. */
export function summaryColumns(parts: readonly Part[], hasStep: boolean): SummaryColumn[] {
  const names = parts.flatMap((part) => {
    const column = partColumns[part]
    return column === part ? [part] : [part, column]
  })
  return [
    ...[...(hasStep ? ['at'] : []), ...names].map((name) => text(name, (keys) => keys[name])),
    ...counts.map(([name, of]) => number(name, of)),
    text('cost_usd', (_, { requests, unpriced, cost_nano }) =>
      // As the console has it: those that were refused cost nothing, and say nothing of the others.
      Number(unpriced) > 0 && (Number(unpriced) >= Number(requests) || cost_nano === '0')
        ? null
        : usd(BigInt(cost_nano)),
    ),
    text('uncharged_usd', (_, { uncharged_nano }) => usd(BigInt(uncharged_nano))),
    number('unpriced_requests', ({ unpriced }) => unpriced),
    number('total_p50_ms', ({ total }) => total?.p50),
    number('total_p95_ms', ({ total }) => total?.p95),
    number('first_token_p50_ms', ({ firstToken }) => firstToken?.p50),
    number('first_token_p95_ms', ({ firstToken }) => firstToken?.p95),
  ]
}

const outcomes = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
const tokens = [
  ...(['input_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const),
  ...(['output_tokens', 'reasoning_tokens', 'images'] as const),
]

const counts: readonly [string, (sums: Sums) => string | number][] = [
  ['requests', ({ requests }) => requests],
  ['errors', ({ refused, failed, orphaned }) => Number(refused) + Number(failed) + Number(orphaned)],
  ...[...outcomes, ...tokens].map((name): [string, (sums: Sums) => string] => [name, (sums) => sums[name]]),
]

function text(name: string, of: SummaryColumn['of']): SummaryColumn {
  return { name, kind: 'text', of }
}

function number(name: string, of: (sums: Sums) => string | number | undefined): SummaryColumn {
  return {
    name,
    kind: 'int4',
    of: (_, group) => {
      const value = of(group)
      return value === undefined ? null : Number(value)
    },
  }
}

const batchRows = 1_000

/** Makes the rows of a batch when it is due, so that requests are served between two of them. */
export async function* batchesOf<Row>(
  groups: readonly SummaryGroup[],
  rowOf: (group: SummaryGroup) => Row,
): AsyncGenerator<readonly Row[]> {
  for (let at = 0; at < groups.length; at += batchRows) yield groups.slice(at, at + batchRows).map(rowOf)
}
