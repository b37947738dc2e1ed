import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Texts } from '../../console-search.ts'
import { exactMoney, money } from '../../format/money.ts'
import { count, duration, share, short } from '../../format/numbers.ts'
import { usePart } from '../../parts/page-parts.tsx'
import classes from './overview.module.css'
import { errorOutcomes, inLog } from './overview-address.ts'
import { isFailing, type Sums, type Terms, useTotals } from './overview-query.ts'

/** The numbers of the time, each with what it was in the time before. */
export function NumbersRow({ terms, search }: { terms: Terms; search: Texts }) {
  const now = useTotals(terms, { from: terms.from, to: terms.to })
  const before = useTotals(terms, terms.before)
  const problem = usePart('the numbers', now)
  if (problem !== undefined) return problem
  const total = now.data?.total
  if (total === undefined) return <Skeleton height={76} radius={6} />
  const then = before.data?.total
  const { first_token, total: whole } = total.latency_ms
  const link = (filters: Texts = {}) => inLog(search, filters)
  return (
    <div>
      <dl className={classes.numbers}>
        <Figure
          name="Requests"
          value={count(total.requests)}
          to={link()}
          before={then && changeOf(total.requests, then.requests)}
        />
        <Figure
          name="Errors"
          value={share(total.errors, total.requests)}
          exact={count(total.errors)}
          to={link({ outcome: errorOutcomes })}
          before={then && `before: ${share(then.errors, then.requests)}`}
          isBad={isFailing(total, then)}
        />
        <Figure
          name="First token, p50 / p95"
          value={percentiles(first_token)}
          to={first_token === null ? undefined : link({ first_token_ms: atLeast(first_token.p95) })}
          leads="the slowest"
          before={then && `before: ${percentiles(then.latency_ms.first_token)}`}
        />
        <Figure
          name="Total, p50 / p95"
          value={percentiles(whole)}
          to={whole === null ? undefined : link({ total_ms: atLeast(whole.p95) })}
          leads="the slowest"
          before={then && `before: ${percentiles(then.latency_ms.total)}`}
        />
        <Figure
          name="Tokens"
          value={short(tokensOf(total))}
          exact={count(tokensOf(total))}
          to={link({ not_usage_source: 'none' })}
          before={then && changeOf(tokensOf(total), tokensOf(then))}
        />
        <Figure
          name="Spend"
          value={money(total.cost_nano_usd)}
          exact={exactMoney(total.cost_nano_usd)}
          to={link({ cost_usd: '0.000000001..' })}
          before={then && changeOf(Number(total.cost_nano_usd), Number(then.cost_nano_usd))}
        />
      </dl>
      <Doubts
        sums={total}
        exact={now.data?.exact ?? true}
        waitingDays={now.data?.waiting_days ?? 0}
        unpriced={link({ cost_usd: '' })}
      />
    </div>
  )
}

/** What is as slow as the slowest, as the log filters it. */
function atLeast(ms: number): string {
  return `${Math.floor(ms)}..`
}

/** What the numbers leave out, said beside them. */
function Doubts({
  sums: { unpriced_requests, uncharged_nano_usd: uncharged },
  exact,
  waitingDays,
  unpriced,
}: {
  sums: Sums
  exact: boolean
  waitingDays: number
  unpriced: Texts
}) {
  if (unpriced_requests === 0 && uncharged === '0' && exact && waitingDays === 0) return null
  return (
    <p className={classes.doubts}>
      {unpriced_requests === 0 ? null : (
        <>
          <Link to="/console/log" search={unpriced}>
            {count(unpriced_requests)} {unpriced_requests === 1 ? 'request has' : 'requests have'} an unknown
            cost
          </Link>
          : the spend is without {unpriced_requests === 1 ? 'it' : 'them'}.{' '}
        </>
      )}
      {uncharged === '0' ? null : `${exactMoney(uncharged)} of it was not charged: no more was held. `}
      {exact ? null : 'The time was widened to whole hours. '}
      {waitingDays === 0
        ? null
        : `${count(waitingDays)} old ${waitingDays === 1 ? 'day is' : 'days are'} not counted yet.`}
    </p>
  )
}

function Figure({
  name,
  value,
  exact,
  to,
  leads = 'its requests',
  before,
  isBad = false,
}: {
  name: string
  value: string
  exact?: string
  /** The address of its requests in the log. */
  to: Texts | undefined
  leads?: string
  before?: ReactNode
  isBad?: boolean
}) {
  return (
    <div className={classes.figure} data-bad={isBad || undefined}>
      <dt>{name}</dt>
      <dd title={exact}>
        {to === undefined ? (
          value
        ) : (
          <Link to="/console/log" search={to} aria-label={`${name}: ${value}. In the log: ${leads}`}>
            {value}
          </Link>
        )}
      </dd>
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
