import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { count, share } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Notice } from '../../parts/state.tsx'
import classes from './overview.module.css'
import { errorOutcomes, inLog } from './overview-address.ts'
import {
  isFailing,
  type Terms,
  useHealth,
  useIsWatched,
  useOpenEpisodes,
  useTotals,
} from './overview-query.ts'

/** Is anything wrong? In words, the worst first, each with the way to it. */
export function CurrentProblems({ terms, search }: { terms: Terms; search: Texts }) {
  const may = useMay()
  const health = useHealth(may('health'))
  const episodes = useOpenEpisodes(may('alerts'))
  const watched = useIsWatched(may('alerts'))
  const totals = useTotals(terms, { from: terms.from, to: terms.to })
  const totalsBefore = useTotals(terms, terms.before)
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
    !totals.isPending &&
    !totalsBefore.isPending &&
    (!may('health') || health.data !== undefined) &&
    (!may('alerts') || (episodes.data !== undefined && !watched.isPending))
  if (!isKnown) return <div className={classes.wrongWaiting} />
  const problems = health.data?.problems ?? []
  const open = episodes.data?.data ?? []
  const now = totals.data?.total
  const before = totalsBefore.data?.total
  const isErring = now !== undefined && isFailing(now, before)
  if (problems.length === 0 && open.length === 0 && !isErring)
    return now === undefined ? null : <NothingWrong isWatched={watched.data === true} />
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
      {isErring ? (
        <Notice
          tone="warning"
          action={
            <Link to="/console/log" search={inLog(search, { outcome: errorOutcomes })}>
              Errors in the log
            </Link>
          }
        >
          <strong>Errors</strong>: {share(now.errors, now.requests)} of {count(now.requests)} requests were
          refused or failed. {before === undefined ? '' : previously(before)}
        </Notice>
      ) : null}
    </div>
  )
}

/** Without a rule that could say so, that no alert is open means nothing. */
function NothingWrong({ isWatched }: { isWatched: boolean }) {
  const may = useMay()
  if (!may('alerts')) return may('health') ? <Notice tone="good">All well</Notice> : null
  if (isWatched) return <Notice tone="good">{may('health') ? 'All well' : 'No alert is open'}</Notice>
  return (
    <Notice
      tone="quiet"
      action={
        <Link to="/console/alerts" search={{ tab: 'rules' }}>
          Alert rules
        </Link>
      }
    >
      {may('health') ? 'No problem now. ' : ''}No alert rule is enabled, so a problem would not be reported.
    </Notice>
  )
}

function previously({ requests, errors }: { requests: number; errors: number }): string {
  return requests === 0
    ? 'There were none in the time before.'
    : `In the time before: ${share(errors, requests)}.`
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
