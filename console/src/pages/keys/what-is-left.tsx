import { useQuery } from '@tanstack/react-query'
import { usageQuery } from '../../api/access-queries.ts'
import type { Schema } from '../../api/client.ts'
import { exactMoney, money } from '../../format/money.ts'
import { count, duration } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import classes from '../access/access.module.css'
import { leftOf } from '../access/access-words.ts'

const owners = {
  key: 'this key',
  parent: 'the key that made it',
  group: 'all keys of its group',
  tenant: 'all keys of its tenant',
} as const
const ownWords = { key: 'this key', tenant: 'all its keys' } as const
const limits = {
  requests_per_minute: 'requests a minute',
  tokens_per_minute: 'tokens a minute',
  concurrency: 'requests at once',
} as const
const periods = { day: 'Budget of the day', month: 'Budget of the month', total: 'Budget in all' } as const

/**
 * What is left of each limit, budget and balance of a key or a tenant: the least of them refuses the next
 * request.
 */
export function WhatIsLeft({ of, id }: { of: 'key' | 'tenant'; id: string }) {
  const usage = useQuery(usageQuery(of, id))
  const problem = usePart('what is left', usage)
  if (problem === null) return null
  return (
    <Section title="Remaining limits">
      {problem ?? (usage.data === undefined ? <WaitingRows /> : <Bars of={of} usage={usage.data} />)}
    </Section>
  )
}

function Bars({
  of: whose,
  usage: { limits: bounds, budgets, balance },
}: {
  of: 'key' | 'tenant'
  usage: Schema<'KeyUsage'>
}) {
  const ownerOf = (owner: keyof typeof owners) => (owner === whose ? ownWords[whose] : owners[owner])
  if (bounds.length === 0 && budgets.length === 0 && balance === null)
    return <p className="tg-quiet">Nothing bounds this {whose}: no limit, no budget and no balance.</p>
  return (
    <div>
      {balance === null ? null : (
        <div className={classes.left}>
          <span>{whose === 'tenant' ? 'Balance' : 'Balance of the tenant'}</span>
          <strong className="tg-number" title={exactMoney(balance.free_nano_usd)}>
            {money(balance.free_nano_usd)} free
          </strong>
          <span className={classes.note}>
            {money(balance.left_nano_usd)} left, {money(balance.held_nano_usd)} held by running requests
          </span>
        </div>
      )}
      {budgets.map(
        ({ of, period, limit_nano_usd, free_nano_usd, spent_nano_usd, held_nano_usd, resets_at }) => (
          <div className={classes.left} key={`${of} ${period}`}>
            <span>
              {periods[period]}, {ownerOf(of)}
            </span>
            <strong className="tg-number" title={exactMoney(free_nano_usd)}>
              {money(free_nano_usd)} of {money(limit_nano_usd)} left
            </strong>
            <Bar {...leftOf(BigInt(free_nano_usd), BigInt(limit_nano_usd))} />
            <span className={classes.note}>
              {money(spent_nano_usd)} spent, {money(held_nano_usd)} held by running requests.{' '}
              {resets_at === null ? (
                'It never resets.'
              ) : (
                <>
                  It resets at <Moment at={resets_at} />.
                </>
              )}
            </span>
          </div>
        ),
      )}
      {bounds.map(({ of, limit, allowed, left, full_in_ms }) => (
        <div className={classes.left} key={`${of} ${limit}`}>
          <span>
            {count(allowed)} {limits[limit]}, {ownerOf(of)}
          </span>
          <strong className="tg-number">{left === null ? 'not counted here' : `${count(left)} left`}</strong>
          {left === null ? null : <Bar {...leftOf(BigInt(left), BigInt(allowed))} />}
          {full_in_ms === null || full_in_ms === 0 ? null : (
            <span className={classes.note}>
              All of it is free again after {duration(full_in_ms)} without requests.
            </span>
          )}
        </div>
      ))}
    </div>
  )
}

/** The words beside it say the same. */
function Bar({ part, tone }: { part: number; tone: string }) {
  return (
    <div className={classes.bar} data-tone={tone} aria-hidden="true">
      <div style={{ width: `${part * 100}%` }} />
    </div>
  )
}
