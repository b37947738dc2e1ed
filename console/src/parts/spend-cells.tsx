import type { Schema } from '../api/client.ts'
import { exactMoney, isCostUnknown, money } from '../format/money.ts'
import { count } from '../format/numbers.ts'
import { Money, None } from './formatted-values.tsx'

type Spend = Pick<
  NonNullable<Schema<'ListedTenant'>['spend']>,
  'requests' | 'unpriced_requests' | 'cost_nano_usd'
>

/** What the requests of something have cost. An unknown cost is called so: it is no dash and no $0. */
export function SpendCell({ of }: { of: Spend | null }) {
  if (of === null) return <None why="You may not read the log." />
  const { unpriced_requests: unpriced, cost_nano_usd } = of
  if (unpriced === 0) return <Money nanoUsd={cost_nano_usd} />
  const without =
    unpriced === 1 ? '1 request has no known cost' : `${count(unpriced)} requests have no known cost`
  if (isCostUnknown(of))
    return (
      <span className="tg-quiet" title={`${without}: no price applied.`}>
        unknown
      </span>
    )
  return (
    <span className="tg-number" title={`${exactMoney(cost_nano_usd)}; ${without}`}>
      {money(cost_nano_usd)} <span className="tg-quiet">+ unknown</span>
    </span>
  )
}

export function RequestsCell({ of }: { of: Spend | null }) {
  return of === null ? <None why="You may not read the log." /> : count(of.requests)
}
