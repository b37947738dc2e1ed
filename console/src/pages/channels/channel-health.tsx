import { Skeleton, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { api, ask } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { count } from '../../format/numbers.ts'
import { outcomeColor, outcomeNames } from '../../parts/chart-colors.ts'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { alignedTo } from '../overview/overview-query.ts'

/** What draws charts is loaded after the page. */
const TimeChart = lazy(async () => ({ default: (await import('../../parts/time-chart.tsx')).TimeChart }))

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How the requests of the last hour ended here, minute by minute. A range that is dragged opens the log. */
export function ChannelHealth({ channel }: { channel: string }) {
  const navigate = useNavigate()
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const minutes = useQuery({
    queryKey: ['channels', 'minutes', channel],
    refetchInterval: every(15_000),
    async queryFn({ signal }) {
      const to = new Date()
      const span = { from: new Date(to.getTime() - hourMs).toISOString(), to: to.toISOString() }
      const query = { ...span, channel, by: 'outcome', step: 'minute' } as const
      const { series } = await ask(api.GET('/admin/v1/summary/timeline', { params: { query }, signal }))
      return { ...span, series }
    },
  })
  const { data } = minutes
  const problem = usePart('the last hour', minutes)
  const chart = useMemo(() => {
    if (data === undefined) return undefined
    return outcomeNames.flatMap((name) => {
      const found = data.series.find(({ outcome }) => outcome === name)
      if (found === undefined) return []
      const points = found.points.map(({ at, requests }) => ({ at, value: requests }))
      return [
        { name, color: outcomeColor(scheme, name), ...alignedTo({ ...data, stepMs: minuteMs }, points) },
      ]
    })
  }, [data, scheme])
  const at = chart?.[0]?.at
  if (problem === null) return null
  return (
    <Section
      title="The last hour, by minute"
      actions={
        <Link to="/console/log" search={{ channel, outcome: 'failed', last: '1h' }}>
          Its failed requests
        </Link>
      }
    >
      {problem !== undefined ? (
        problem
      ) : chart === undefined ? (
        <Skeleton height={164} radius={6} />
      ) : at === undefined ? (
        <span className="tg-quiet">No request came here in the last hour.</span>
      ) : (
        <Suspense fallback={<Skeleton height={164} radius={6} />}>
          <TimeChart
            label="Requests by outcome, by minute"
            at={at}
            stepMs={minuteMs}
            series={chart}
            kind="stacked"
            format={count}
            picks="its requests"
            onRange={(range) => void navigate({ to: '/console/log', search: { channel, ...range } })}
            onPick={(range, outcome) =>
              void navigate({
                to: '/console/log',
                search: { channel, ...(outcome === undefined ? {} : { outcome }), ...range },
              })
            }
          />
        </Suspense>
      )}
    </Section>
  )
}
