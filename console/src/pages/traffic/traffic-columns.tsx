import { isCostUnknown } from '../../format/money.ts'
import { count, share } from '../../format/numbers.ts'
import { Duration, None } from '../../parts/formatted-values.tsx'
import type { SortedColumn } from '../../parts/sorted-rows.ts'
import { SpendCell } from '../../parts/spend-cells.tsx'
import { State } from '../../parts/state.tsx'
import { isFailing } from '../overview/overview-query.ts'
import type { Traffic } from './traffic-query.ts'

const unread = <None why="Not read yet, or you may not read the log." />
const none = <None why="No request in this time" />

/**
 * How much comes, how much of it fails, how fast it is and what it costs, for a list of channels or models.
 * `of`: undefined while the sums are read, and where the reader may not see them.
 */
export function trafficColumns<Row>(
  of: (row: Row) => Traffic | undefined,
): Record<'requests' | 'errors' | 'p50' | 'p95' | 'spend', SortedColumn<Row>> {
  const latency = (part: 'p50' | 'p95'): SortedColumn<Row> => ({
    id: part,
    head: `First token, ${part}`,
    about: `Half of the first tokens came faster`,
    width: 112,
    align: 'right',
    isWide: true,
    sort: part,
    by: (row) => of(row)?.latency_ms.first_token?.[part],
    cell: (row) => <Duration ms={of(row)?.latency_ms.first_token?.[part]} />,
    ...(part === 'p95' && { about: 'Of 100 first tokens, 95 came faster' }),
  })
  return {
    requests: {
      id: 'requests',
      head: 'Requests',
      width: 88,
      align: 'right',
      isWide: true,
      sort: 'requests',
      by: (row) => of(row)?.requests,
      cell: (row) => {
        const sums = of(row)
        return sums === undefined ? unread : count(sums.requests)
      },
    },
    errors: {
      id: 'errors',
      head: 'Errors',
      about: 'The share of requests that were refused, failed or left without an end',
      width: 88,
      align: 'right',
      sort: 'errors',
      by: (row) => shareOf(of(row)),
      cell: (row) => {
        const sums = of(row)
        if (sums === undefined) return unread
        if (sums.requests === 0) return none
        const words = (
          <span title={`${count(sums.errors)} requests`}>{share(sums.errors, sums.requests)}</span>
        )
        return isFailing(sums) ? <State tone="bad">{words}</State> : words
      },
    },
    p50: latency('p50'),
    p95: latency('p95'),
    spend: {
      id: 'spend',
      head: 'Spend',
      width: 144,
      align: 'right',
      isWide: true,
      sort: 'spend',
      by: (row) => {
        const sums = of(row)
        return sums === undefined || sums.requests === 0 || isCostUnknown(sums)
          ? undefined
          : Number(sums.cost_nano_usd)
      },
      cell: (row) => {
        const sums = of(row)
        if (sums === undefined) return unread
        return sums.requests === 0 ? none : <SpendCell of={sums} />
      },
    },
  }
}

function shareOf(sums: Traffic | undefined): number | undefined {
  return sums === undefined || sums.requests === 0 ? undefined : sums.errors / sums.requests
}
