import {
  AlertIcon,
  CheckCircleIcon,
  ChevronDownIcon,
  ChevronUpIcon,
  XCircleIcon,
} from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { count } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Notice } from '../../parts/state.tsx'
import { type Cause, causesOf, type Detail, errorCause } from './causes.ts'
import classes from './overview.module.css'
import { errorOutcomes, inLog } from './overview-address.ts'
import {
  isFailing,
  type Terms,
  useHealth,
  useHits,
  useIsWatched,
  useOpenEpisodes,
  useTotals,
} from './overview-query.ts'

const noEpisodes = { data: [], next_cursor: null }

/**
 * Is anything wrong? The worst cause in a line of a height that is kept free for it; the others, and what
 * each is made of, fold out.
 */
export function CurrentProblems({ terms, search }: { terms: Terms; search: Texts }) {
  const may = useMay()
  const health = useHealth(may('health'))
  const episodes = useOpenEpisodes(may('alerts'))
  const watched = useIsWatched(may('alerts'))
  const totals = useTotals(terms, { from: terms.from, to: terms.to })
  const totalsBefore = useTotals(terms, terms.before)
  const hasChannels = health.data?.problems.some(({ where }) => where.startsWith('channel ')) === true
  const hits = useHits(hasChannels && may('log'))
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
  const now = totals.data?.total
  const before = totalsBefore.data?.total
  const causes = causesOf(health.data, episodes.data ?? noEpisodes, hits.data?.data)
  const isErring = now !== undefined && isFailing(now, before)
  // What is over comes after what is not.
  const isOver = ({ tone }: Cause) => tone === 'good'
  const all = isErring
    ? [...causes.filter((one) => !isOver(one)), errorCause(now, before), ...causes.filter(isOver)]
    : causes
  return (
    <div className={classes.wrong}>
      {!isKnown ? null : all.length > 0 ? (
        <Causes causes={all} search={search} />
      ) : now === undefined ? null : (
        <NothingWrong isWatched={watched.data === true} />
      )}
    </div>
  )
}

function Causes({ causes, search }: { causes: readonly Cause[]; search: Texts }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const [worst, ...others] = causes
  if (worst === undefined) return null
  const folds = others.length > 0 || worst.details.length > 0
  return (
    <section className={classes.causes} data-tone={worst.tone} aria-label="What is wrong">
      <Line
        cause={worst}
        search={search}
        fold={
          folds ? (
            <button
              type="button"
              className={classes.fold}
              aria-expanded={isOpen}
              aria-controls={id}
              onClick={() => setOpen(!isOpen)}
            >
              {others.length === 0 ? 'Details' : `${count(others.length)} more`}
              {isOpen ? <ChevronUpIcon size={14} /> : <ChevronDownIcon size={14} />}
            </button>
          ) : undefined
        }
      />
      {isOpen ? (
        <div id={id}>
          <Details details={worst.details} />
          {others.map((cause) => (
            <div key={cause.id} className={classes.cause}>
              <Line cause={cause} search={search} />
              <Details details={cause.details} />
            </div>
          ))}
        </div>
      ) : null}
    </section>
  )
}

function Line({ cause, search, fold }: { cause: Cause; search: Texts; fold?: ReactNode }) {
  const { tone, title, why, effect } = cause
  const Shape = { bad: XCircleIcon, warning: AlertIcon, good: CheckCircleIcon }[tone]
  return (
    <div className={classes.line} data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Shape size={16} aria-hidden />
      <div className={classes.lineWords} title={`${title} ${effect}`}>
        <strong>{title}</strong> <span>{effect}</span>
      </div>
      {why === '' ? null : <div className={classes.why}>{why}</div>}
      <div className={classes.ways}>
        <CauseWays cause={cause} search={search} />
        {fold}
      </div>
    </div>
  )
}

/** Where the requests that it hits are found, and where it is looked at and mended. */
function CauseWays({ cause: { id, channels, details }, search }: { cause: Cause; search: Texts }) {
  const [first] = details
  if (id === 'errors')
    return (
      <Link to="/console/log" search={inLog(search, { outcome: errorOutcomes })}>
        Errors in the log
      </Link>
    )
  if (channels.length > 0)
    return (
      <>
        <Link
          to="/console/log"
          search={{
            ...{ channel: [...channels], last: '15m' },
            outcome: id === 'silent' ? ['cancelled', ...errorOutcomes] : errorOutcomes,
          }}
        >
          {id === 'silent' ? 'Requests' : 'Errors'} of{' '}
          {channels.length === 1 ? channels[0] : `these ${channels.length}`}
        </Link>
        {channels.length === 1 && first !== undefined ? (
          <DetailWay detail={first} />
        ) : (
          <Link to="/console/channels">All channels</Link>
        )}
      </>
    )
  if (id === 'alerts' && details.length > 1) return <Link to="/console/alerts">Open alerts</Link>
  return first === undefined ? null : <DetailWay detail={first} />
}

function Details({ details }: { details: readonly Detail[] }) {
  if (details.length === 0) return null
  return (
    <ul className={classes.details}>
      {details.map((detail) => (
        <li key={detail.id}>
          <span>
            {detail.name === '' ? null : <strong>{detail.name}:</strong>} {detail.words}{' '}
            {detail.since === null ? null : (
              <>
                Since <Moment at={detail.since} />.
              </>
            )}
          </span>
          <span className={classes.detailWays}>
            {detail.alerts.map(({ id, name }) => (
              <Link key={id} to="/console/alerts/$id" params={{ id }}>
                Alert {name}
                <span className="tg-heard"> of {detail.name}</span>
              </Link>
            ))}
            <DetailWay detail={detail} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Where a detail is looked at and mended. */
function DetailWay({ detail: { name, way } }: { detail: Detail }) {
  switch (way?.to) {
    case undefined:
      return null
    case 'channel':
      return (
        <Link to="/console/channels/$id" params={{ id: way.id }}>
          Health of {name}
        </Link>
      )
    case 'episode':
      return (
        <Link to="/console/alerts/$id" params={{ id: way.id }}>
          {name}
        </Link>
      )
    case 'jobs':
      return <Link to="/console/jobs">Jobs</Link>
    default:
      return <Link to="/console/ledger">Ledger</Link>
  }
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
      {may('health') ? 'No problem now. ' : ''}No alert rule watches.
    </Notice>
  )
}
