import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { clock, day, inUtc, isSameDay, moment } from '../format/moments.ts'
import { exactMoney, money } from '../format/money.ts'
import { count, duration, short } from '../format/numbers.ts'

/** For a value that is unknown or missing. Never 0. */
export function None({ why }: { why?: string }) {
  return (
    <span className="tg-quiet" title={why}>
      –
    </span>
  )
}

function Hover({ exact, children }: { exact: string; children: ReactNode }) {
  return (
    <span className="tg-number" title={exact}>
      {children}
    </span>
  )
}

/** Nano-USD in digits; null: the cost is unknown. */
export function Money({ nanoUsd, unknown }: { nanoUsd: string | null | undefined; unknown?: string }) {
  if (nanoUsd === null || nanoUsd === undefined) return <None why={unknown ?? 'The cost is unknown.'} />
  return <Hover exact={exactMoney(nanoUsd)}>{money(nanoUsd)}</Hover>
}

export function Tokens({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <None />
  return <Hover exact={count(value)}>{short(value)}</Hover>
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <None />
  return <Hover exact={`${count(ms)} ms`}>{duration(ms)}</Hover>
}

/** A moment on the reader's clock, UTC on hover. `after`: the row above; the day appears where it changes. */
export function Clock({
  at,
  after,
  withMillis = true,
}: {
  at: string
  after?: string | undefined
  withMillis?: boolean
}) {
  const here = new Date(at)
  const isNewDay = after === undefined ? !isSameDay(here, new Date()) : !isSameDay(here, new Date(after))
  return (
    <time dateTime={at} className="tg-number" title={inUtc(here)}>
      {isNewDay ? <span className="tg-quiet">{day(here)} </span> : null}
      {clock(here, withMillis && !isNewDay)}
    </time>
  )
}

/** A moment that appears alone: day and time, UTC on hover. */
export function Moment({ at, none }: { at: string | null | undefined; none?: string }) {
  if (at === null || at === undefined)
    return none === undefined ? <None /> : <span className="tg-quiet">{none}</span>
  const here = new Date(at)
  return (
    <Tooltip label={inUtc(here)}>
      <time dateTime={at} className="tg-number">
        {moment(here)}
      </time>
    </Tooltip>
  )
}
