import { usd } from '../../canonical/usd.ts'
import type { Sums } from '../../usage/rollup-queries.ts'
import type { ExportColumn } from '../export/row-encoder.ts'

/** Sums as decimal digits. */
type Counts = Omit<Sums, 'total' | 'firstToken'>

/** A column of a file of sums. `keys`: ids and names of the group, by the name of the column. */
export interface SumsColumn<Group> extends ExportColumn {
  of(keys: Readonly<Record<string, unknown>>, group: Group): unknown
}

/** The columns of all files of sums: `names` are those of the keys. */
export function sumsColumns(names: readonly string[]): SumsColumn<Counts>[] {
  return [
    ...names.map((name) => text(name, (keys) => keys[name])),
    ...counts.map(([name, of]) => number(name, of)),
    text('cost_usd', (_, { requests, unpriced, cost_nano }) =>
      // As the console has it: those that were refused cost nothing, and say nothing of the others.
      Number(unpriced) > 0 && (Number(unpriced) >= Number(requests) || cost_nano === '0')
        ? null
        : usd(BigInt(cost_nano)),
    ),
    text('uncharged_usd', (_, { uncharged_nano }) => usd(BigInt(uncharged_nano))),
    number('unpriced_requests', ({ unpriced }) => unpriced),
  ]
}

export const latencyColumns: readonly SumsColumn<Sums>[] = [
  number('total_p50_ms', ({ total }) => total?.p50),
  number('total_p95_ms', ({ total }) => total?.p95),
  number('first_token_p50_ms', ({ firstToken }) => firstToken?.p50),
  number('first_token_p95_ms', ({ firstToken }) => firstToken?.p95),
]

const outcomes = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
const tokens = [
  ...(['input_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const),
  ...(['output_tokens', 'reasoning_tokens', 'images'] as const),
]

const counts: readonly [string, (sums: Counts) => string | number][] = [
  ['requests', ({ requests }) => requests],
  ['errors', ({ refused, failed, orphaned }) => Number(refused) + Number(failed) + Number(orphaned)],
  ...[...outcomes, ...tokens].map((name): [string, (sums: Counts) => string] => [name, (sums) => sums[name]]),
]

function text(name: string, of: SumsColumn<Counts>['of']): SumsColumn<Counts> {
  return { name, kind: 'text', of }
}

function number<Group>(
  name: string,
  of: (group: Group) => string | number | null | undefined,
): SumsColumn<Group> {
  return {
    name,
    kind: 'int4',
    of: (_, group) => {
      const value = of(group) ?? null
      return value === null ? null : Number(value)
    },
  }
}

/** All groups of an export are in memory at once. */
export const exportGroupsMax = 100_000

const batchRows = 1_000

/** Makes the rows of a batch when it is due, so that requests are served between two of them. */
export async function* batchesOf<Group, Row>(
  groups: readonly Group[],
  rowOf: (group: Group) => Row,
): AsyncGenerator<readonly Row[]> {
  for (let at = 0; at < groups.length; at += batchRows) yield groups.slice(at, at + batchRows).map(rowOf)
}
