import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { exactMoney, money } from '../../format/money.ts'
import { count, duration, share, short } from '../../format/numbers.ts'
import { Problem } from '../../parts/problem.tsx'
import classes from './overview.module.css'
import { type Sums, type Terms, useTotals } from './overview-query.ts'

/** The numbers of the time, each with what it was in the time before. */
export function NumbersRow({ terms }: { terms: Terms }) {
  const now = useTotals(terms, { from: terms.from, to: terms.to })
  const before = useTotals(terms, terms.before)
  if (now.error !== null)
    return <Problem error={now.error} doing="The sums" onAgain={() => void now.refetch()} />
  const total = now.data?.total
  if (total === undefined) return <Skeleton height={76} radius={6} />
  const then = before.data?.total
  return (
    <div>
      <dl className={classes.numbers}>
        <Figure
          name="Requests"
          value={count(total.requests)}
          before={then && changeOf(total.requests, then.requests)}
        />
        <Figure
          name="Errors"
          value={share(total.errors, total.requests)}
          exact={count(total.errors)}
          before={then && `before: ${share(then.errors, then.requests)}`}
          isBad={total.requests > 0 && total.errors / total.requests > 0.05}
        />
        <Figure
          name="First token, p50 / p95"
          value={percentiles(total.latency_ms.first_token)}
          before={then && `before: ${percentiles(then.latency_ms.first_token)}`}
        />
        <Figure
          name="Total, p50 / p95"
          value={percentiles(total.latency_ms.total)}
          before={then && `before: ${percentiles(then.latency_ms.total)}`}
        />
        <Figure
          name="Tokens"
          value={short(tokensOf(total))}
          exact={count(tokensOf(total))}
          before={then && changeOf(tokensOf(total), tokensOf(then))}
        />
        <Figure
          name="Spend"
          value={money(total.cost_nano_usd)}
          exact={exactMoney(total.cost_nano_usd)}
          before={then && changeOf(Number(total.cost_nano_usd), Number(then.cost_nano_usd))}
        />
      </dl>
      <Doubts sums={total} exact={now.data?.exact ?? true} waitingDays={now.data?.waiting_days ?? 0} />
    </div>
  )
}

/** What the numbers leave out, said beside them. */
function Doubts({ sums, exact, waitingDays }: { sums: Sums; exact: boolean; waitingDays: number }) {
  const words = [
    ...(sums.unpriced_requests > 0
      ? [`${count(sums.unpriced_requests)} requests have an unknown cost: the spend is without them.`]
      : []),
    ...(exact ? [] : ['The time was widened to whole hours.']),
    ...(waitingDays > 0 ? [`${count(waitingDays)} old days are not counted yet.`] : []),
  ]
  return words.length === 0 ? null : <p className={classes.doubts}>{words.join(' ')}</p>
}

function Figure({
  name,
  value,
  exact,
  before,
  isBad = false,
}: {
  name: string
  value: string
  exact?: string
  before?: ReactNode
  isBad?: boolean
}) {
  return (
    <div className={classes.figure} data-bad={isBad || undefined}>
      <dt>{name}</dt>
      <dd title={exact}>{value}</dd>
      <dd className={classes.before}>{before ?? '\u00a0'}</dd>
    </div>
  )
}

export function tokensOf({ tokens }: Pick<Sums, 'tokens'>): number {
  return tokens.input + tokens.cache_read + tokens.cache_write + tokens.output + tokens.reasoning
}

function percentiles(latency: { p50: number; p95: number } | null): string {
  return latency === null ? '–' : `${duration(latency.p50)} / ${duration(latency.p95)}`
}

/** `+12 %` against the time before, or that there was nothing. */
export function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'nothing before' : 'new in this time'
  const change = (now - before) / before
  const words = new Intl.NumberFormat(undefined, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  })
  return `${words.format(change)} against before`
}
