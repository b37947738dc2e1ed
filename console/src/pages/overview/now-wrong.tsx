import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import { usePart } from '../../parts/page-parts.tsx'
import { Notice } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'
import classes from './overview.module.css'
import { useHealth, useOpenEpisodes } from './overview-query.ts'

/** Is anything wrong? In words, the worst first, each with the way to it. */
export function NowWrong() {
  const may = useMay()
  const health = useHealth(may('health'))
  const episodes = useOpenEpisodes(may('alerts'))
  const healthProblem = usePart('the health', health)
  const alertsProblem = usePart('the alerts', episodes)
  if (healthProblem !== undefined || alertsProblem !== undefined)
    return (
      <>
        {healthProblem}
        {alertsProblem}
      </>
    )
  const isKnown =
    (!may('health') || health.data !== undefined) && (!may('alerts') || episodes.data !== undefined)
  if (!isKnown) return <div className={classes.wrongWaiting} />
  const problems = health.data?.problems ?? []
  const open = episodes.data?.data ?? []
  if (problems.length === 0 && open.length === 0) {
    if (may('health')) return <Notice tone="good">All well</Notice>
    // Whoever may not read the health knows of no alert, and of nothing else.
    return may('alerts') ? <Notice tone="good">No alert is open</Notice> : null
  }
  return (
    <div className={classes.wrong}>
      {problems.map(({ severity, what, where, since }) => (
        <Notice
          key={`${where} ${what}`}
          tone={severity}
          action={<Way where={where} channels={health.data?.channels ?? []} />}
        >
          <strong>{where}</strong>: {sentence(what)}{' '}
          {since === null ? null : (
            <>
              Since <Moment at={since} />.
            </>
          )}
        </Notice>
      ))}
      {open.map(({ id, rule, summary, opened_at, acknowledged }) => (
        <Notice
          key={id}
          tone="warning"
          action={
            <Link to="/console/alerts/$id" params={{ id }}>
              Its episode
            </Link>
          }
        >
          <strong>Alert {rule.name}</strong>: {sentence(summary)} Since <Moment at={opened_at} />
          {acknowledged === null ? '' : `, acknowledged by ${acknowledged.by}`}.
        </Notice>
      ))}
    </div>
  )
}

/** With the full stop that words of an upstream may lack. */
function sentence(words: string): string {
  return /[.!?]$/.test(words) ? words : `${words}.`
}

/** Where a problem is looked at and mended. */
function Way({ where, channels }: { where: string; channels: readonly { id: string; name: string }[] }) {
  const name = /^channel (.*)$/.exec(where)?.[1]
  const channel = channels.find((one) => one.name === name)
  if (channel !== undefined) {
    return (
      <span className={classes.ways}>
        <Link to="/console/log" search={{ channel: channel.name, not_outcome: 'succeeded', last: '1h' }}>
          Its errors
        </Link>
        <Link to="/console/channels/$id" params={{ id: channel.id }}>
          The channel
        </Link>
      </span>
    )
  }
  if (where === 'queues') return <Link to="/console/jobs">The jobs</Link>
  return <Link to="/console/ledger">The ledger</Link>
}
