import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Texts } from '../../console-search.ts'
import { exactMoney, isCostUnknown, money } from '../../format/money.ts'
import { count, duration, share, short } from '../../format/numbers.ts'
import { rangeTitle } from '../../format/range.ts'
import { usePart } from '../../parts/page-parts.tsx'
import { changeOf, spanWords } from './comparison.ts'
import classes from './overview.module.css'
import { errorOutcomes, inLog } from './overview-address.ts'
import { hasCoarseBars, isFailing, type Sums, type Terms, useTotals } from './overview-query.ts'

const cards = ['requests', 'errors', 'first token', 'total', 'tokens', 'spend']

/** The numbers of the time, each with what it was in the time before. */
export function NumbersRow({ terms, search }: { terms: Terms; search: Texts }) {
  const now = useTotals(terms, { from: terms.from, to: terms.to })
  const before = useTotals(terms, terms.before)
  const problem = usePart('the numbers', now)
  if (problem !== undefined) return problem
  const total = now.data?.total
  if (total === undefined)
    return (
      <div>
        <div className={classes.numbers}>
          {cards.map((card) => (
            <Skeleton key={card} className={classes.figureWaiting ?? ''} radius={6} />
          ))}
        </div>
        <p className={classes.doubts}>
          <Compared terms={terms} />
        </p>
      </div>
    )
  const then = before.data?.total
  const { first_token, total: whole } = total.latency_ms
  const link = (filters: Texts = {}) => inLog(search, filters)
  const span = spanWords(terms)
  return (
    <div>
      <dl className={classes.numbers}>
        <Figure
          name="Requests"
          value={count(total.requests)}
          to={link()}
          {...(then && changeOf(total.requests, then.requests, span))}
        />
        <Figure
          name="Errors"
          value={share(total.errors, total.requests)}
          exact={count(total.errors)}
          more={`${count(total.errors)} ${total.errors === 1 ? 'request' : 'requests'}`}
          to={link({ outcome: errorOutcomes })}
          before={then && previously(share(then.errors, then.requests), then)}
          isBad={isFailing(total, then)}
        />
        <Figure
          name="First token, median"
          value={first_token === null ? '–' : duration(first_token.p50)}
          more={`p95 ${first_token === null ? '–' : duration(first_token.p95)}`}
          to={first_token === null ? undefined : link({ first_token_ms: atLeast(first_token.p95) })}
          leads="the slowest"
          before={then && previously(medianOf(then.latency_ms.first_token), then)}
        />
        <Figure
          name="Total time, median"
          value={whole === null ? '–' : duration(whole.p50)}
          more={`p95 ${whole === null ? '–' : duration(whole.p95)}`}
          to={whole === null ? undefined : link({ total_ms: atLeast(whole.p95) })}
          leads="the slowest"
          before={then && previously(medianOf(then.latency_ms.total), then)}
        />
        <Figure
          name="Tokens"
          value={short(tokensOf(total))}
          exact={count(tokensOf(total))}
          to={link({ not_usage_source: 'none' })}
          {...(then && changeOf(tokensOf(total), tokensOf(then), span))}
        />
        <Figure
          name="Spend"
          value={isCostUnknown(total) ? '–' : money(total.cost_nano_usd)}
          exact={isCostUnknown(total) ? 'No cost is known.' : exactMoney(total.cost_nano_usd)}
          to={link({ cost_usd: '0.000000001..' })}
          {...(then &&
            ![total, then].some(isCostUnknown) &&
            changeOf(Number(total.cost_nano_usd), Number(then.cost_nano_usd), span))}
        />
      </dl>
      <Doubts
        terms={terms}
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

/** What the numbers are compared with, and what they leave out. The line is always there. */
function Doubts({
  terms,
  sums: { unpriced_requests: unpricedCount, uncharged_nano_usd: uncharged },
  exact,
  waitingDays,
  unpriced,
}: {
  terms: Terms
  sums: Sums
  exact: boolean
  waitingDays: number
  unpriced: Texts
}) {
  return (
    <p className={classes.doubts}>
      <Compared terms={terms} />
      {unpricedCount === 0 ? null : (
        <>
          Spend leaves out{' '}
          <Link to="/console/log" search={unpriced}>
            {count(unpricedCount)} {unpricedCount === 1 ? 'request' : 'requests'} of unknown cost
          </Link>
          : no price applied, or no usage was reported.{' '}
        </>
      )}
      {uncharged === '0' ? null : `${exactMoney(uncharged)} of it was not charged: no more was held. `}
      {exact ? null : 'The time was widened to whole hours. '}
      {waitingDays === 0
        ? null
        : `${count(waitingDays)} old ${waitingDays === 1 ? 'day is' : 'days are'} not counted yet. `}
      {hasCoarseBars(terms) ? 'Bars are hours: minutes are kept by channel alone.' : null}
    </p>
  )
}

function Compared({ terms }: { terms: Terms }) {
  const { from, to } = terms.before
  return <>Compared with {rangeTitle({ from, to }, '')}. </>
}

function Figure({
  name,
  value,
  exact,
  more,
  to,
  leads = 'its requests',
  before,
  isBad = false,
}: {
  name: string
  value: string
  exact?: string
  /** A second line. */
  more?: string
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
      <dd className={classes.before}>{more ?? '\u00a0'}</dd>
      <dd className={classes.before}>{before ?? '\u00a0'}</dd>
    </div>
  )
}

export function tokensOf({ tokens }: Pick<Sums, 'tokens'>): number {
  return tokens.input + tokens.cache_read + tokens.cache_write + tokens.output + tokens.reasoning
}

function medianOf(latency: { p50: number } | null): string {
  return latency === null ? '–' : duration(latency.p50)
}

/** `previously 6.6%`, where there were requests. */
function previously(value: string, { requests }: Pick<Sums, 'requests'>): string {
  return requests === 0 ? 'nothing before' : `previously ${value}`
}
