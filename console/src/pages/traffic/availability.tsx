import { Skeleton } from '@mantine/core'
import { useState } from 'react'
import { count } from '../../format/numbers.ts'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { type AvailableDay, availableDays, toneOfDay } from './available-days.ts'
import classes from './traffic.module.css'
import { type TrafficOf, useOutcomes } from './traffic-query.ts'

const days = 30
const dayMs = 86_400_000
/** A day that was not good is seen, also where nearly all of it was. */
const leastHeight = 12

/** How much of each of the last 30 days was good, in one strip, and in a table for screen readers. */
export function Availability({ of }: { of: TrafficOf }) {
  const [now] = useState(() => new Date())
  const today = Math.floor(now.getTime() / dayMs) * dayMs
  const query = useOutcomes(of, {
    from: new Date(today - (days - 1) * dayMs).toISOString(),
    to: new Date(today + dayMs).toISOString(),
    step: 'day',
  })
  const problem = usePart('the availability', query)
  if (problem === null) return null
  const shown = query.data === undefined ? undefined : availableDays(query.data, now, days)
  return (
    <Section title={`Availability of the last ${days} days`}>
      {problem !== undefined ? (
        problem
      ) : shown === undefined ? (
        <Skeleton height={64} radius={6} />
      ) : shown.every(({ requests }) => requests === 0) ? (
        <p className="tg-quiet">No request came in these days.</p>
      ) : (
        <Strip shown={shown} isChannel={'channel' in of} />
      )}
    </Section>
  )
}

function Strip({ shown, isChannel }: { shown: readonly AvailableDay[]; isChannel: boolean }) {
  const sum = (of: (day: AvailableDay) => number) => shown.reduce((total, day) => total + of(day), 0)
  const [requests, good] = [sum((day) => day.requests), sum((day) => day.good)]
  const [worst] = shown
    .filter((day) => day.requests > day.good)
    .toSorted((a, b) => a.good / a.requests - b.good / b.requests)
  return (
    <>
      <div className={classes.days} aria-hidden>
        {shown.map((day) => (
          <div
            key={day.day}
            className={classes.day}
            data-tone={toneOfDay(day)}
            title={`${day.day}: ${wordsOf(day)}`}
          >
            {day.requests === 0 ? null : <span style={{ height: heightOf(day) }} />}
          </div>
        ))}
      </div>
      <div className={classes.ends}>
        <span>{shown[0]?.day}</span>
        <span>
          {goodShare(good, requests)} of {count(requests)} requests
          {worst === undefined
            ? ''
            : `; the worst day: ${worst.day}, ${goodShare(worst.good, worst.requests)}`}
        </span>
        <span>{shown.at(-1)?.day} UTC</span>
      </div>
      <p className={classes.about}>
        The share of requests that did not fail, without those that their clients cancelled.
        {isChannel
          ? ' A request that another channel answered after this one had failed counts there, not here.'
          : ''}
      </p>
      <table className="tg-heard">
        <caption>Availability by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Good</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{wordsOf(day)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function wordsOf({ requests, good }: AvailableDay): string {
  return requests === 0 ? 'no request' : `${goodShare(good, requests)} of ${count(requests)} requests`
}

/** Rounded down: one failure of a million is not "100%". */
function goodShare(good: number, requests: number): string {
  const hundredths = Math.floor((good / requests) * 10_000) / 100
  return `${hundredths.toLocaleString(undefined, { maximumFractionDigits: 2 })}%`
}

function heightOf({ requests, good }: AvailableDay): string {
  return `${Math.max(leastHeight, Math.round((good / requests) * 100))}%`
}
