import { Button } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { clock, zoneName } from '../../format/moments.ts'
import { count, duration } from '../../format/numbers.ts'
import { rangeOf } from '../../format/range.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Clock, Duration, Money, Tokens } from '../../parts/formatted-values.tsx'
import { allOf, WaitingRows } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import classes from './conversation.module.css'
import { type Added, addedBy, messagesOf } from './conversation.ts'
import { Ending, inputOf, outputOf } from './log-columns.tsx'
import { type LogPageData, type Row, useLogTerms } from './log-query.ts'

/** Each has its body read. */
const pageRows = 25

/** "What happened in this run?" The requests of a session in their order, each with what it added. */
export function ConversationPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const [asOf, setAsOf] = useState(() => new Date())
  const { filters, from, to } = useLogTerms(search, asOf)
  const session = filters.session?.[0]
  const list = useList<Row, LogPageData>({
    queryKey: ['conversation', filters, from, to],
    enabled: session !== undefined,
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/requests', {
          params: { query: { ...filters, from, to, sort: 'created_at', limit: pageRows, ...page } },
          signal,
        }),
      ),
  })
  const { rows, error, isPending, isWhole, isMoreComing, more, again } = list
  const hasFailed = error !== null && error !== undefined
  return (
    <Page
      title="Conversation"
      lead={
        <span className={classes.name}>
          {session} · Times in {zoneName()}
        </span>
      }
      actions={
        <>
          <RangePicker
            range={rangeOf(search)}
            fallback="Last 24 hours"
            onChange={(range) => {
              const { last: _last, from: _from, to: _to, ...rest } = search
              setAsOf(new Date())
              void navigate({ to: '/console/conversation', search: { ...rest, ...range } })
            }}
          />
          <Button variant="default" component={Link} to="/console/log" search={search as never}>
            Show in the log
          </Button>
        </>
      }
    >
      {session === undefined ? (
        <EmptyState title="No conversation is named" action={<Link to="/console/log">Open the log</Link>}>
          A request that names its session has a link to its conversation.
        </EmptyState>
      ) : hasFailed && rows.length === 0 ? (
        <Problem error={error} onAgain={again} />
      ) : isPending ? (
        <WaitingRows />
      ) : rows.length === 0 && isWhole ? (
        <EmptyState title="No request of this conversation in this time">Choose a longer time.</EmptyState>
      ) : (
        <>
          <Turns rows={rows} />
          {hasFailed ? <Problem error={error} onAgain={again} /> : null}
          <div className="tg-quiet">
            {isWhole ? allOf(rows.length, 'requests') : `${count(rows.length)} requests so far`}
            {', '}
            <Sums rows={rows} />{' '}
            {isWhole ? null : (
              <Button variant="default" onClick={more} loading={isMoreComing}>
                Show more
              </Button>
            )}
          </div>
        </>
      )}
    </Page>
  )
}

function Sums({ rows }: { rows: readonly Row[] }) {
  const known = rows.filter(({ cost_nano_usd: cost }) => cost !== null)
  const cost = known.reduce((sum, { cost_nano_usd: each }) => sum + BigInt(each ?? 0), 0n)
  const tokens = (of: (row: Row) => number | null) => rows.reduce((sum, row) => sum + (of(row) ?? 0), 0)
  return (
    <>
      <Tokens value={tokens(inputOf)} /> tokens in, <Tokens value={tokens(outputOf)} /> out,{' '}
      <Money nanoUsd={known.length === 0 ? null : String(cost)} />
      {known.length < rows.length ? ` without ${count(rows.length - known.length)} of unknown cost` : ''}
    </>
  )
}

function Turns({ rows }: { rows: readonly Row[] }) {
  const details = useQueries({
    queries: rows.map(({ id }) => ({
      queryKey: ['log-row', id],
      staleTime: Number.POSITIVE_INFINITY,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        ask(api.GET('/admin/v1/requests/{id}', { params: { path: { id } }, signal })),
    })),
  })
  const messages = details.map(({ data }) => (data === undefined ? undefined : messagesOf(data.body)))
  return (
    <ol className={classes.turns}>
      {rows.map((row, at) => {
        const now = messages[at]
        // What a request adds is known only when those before it have been read.
        const isRead = details.slice(0, at + 1).every((each) => !each.isPending)
        return (
          <li key={row.id} className={classes.turn}>
            <Numbers row={row} above={rows[at - 1]} />
            <New
              detail={isRead ? details[at]?.data : undefined}
              error={details[at]?.error ?? null}
              // Compared with the last one before whose messages are known.
              added={now === undefined ? undefined : addedBy(messages.slice(0, at).findLast(Boolean), now)}
            />
          </li>
        )
      })}
    </ol>
  )
}

function Numbers({ row, above }: { row: Row; above: Row | undefined }) {
  const sinceMs =
    above === undefined
      ? undefined
      : new Date(row.created_at).getTime() - new Date(above.created_at).getTime()
  return (
    <div className={classes.numbers}>
      <strong>
        <Clock at={row.created_at} after={above?.created_at} />
      </strong>
      {sinceMs === undefined ? null : <span className="tg-quiet">{duration(sinceMs)} later</span>}
      <span>{row.requested_model}</span>
      <Ending row={row} />
      <span>
        <Tokens value={inputOf(row)} /> in, <Tokens value={outputOf(row)} /> out
      </span>
      <Money nanoUsd={row.cost_nano_usd} />
      <Duration ms={row.latency_ms.total} />
      <Link
        to="/console/log/$id"
        params={{ id: row.id }}
        aria-label={`Open the request of ${clock(new Date(row.created_at))}`}
      >
        Open the request
      </Link>
    </div>
  )
}

function New({
  detail,
  error,
  added,
}: {
  detail: Schema<'LogDetail'> | undefined
  error: unknown
  added: Added | undefined
}) {
  if (error !== null) return <Problem error={error} doing="Its body" />
  if (detail === undefined) return <p className={classes.quiet}>Reading its body…</p>
  if (added === undefined)
    return (
      <p className={classes.quiet}>
        {detail.body === null
          ? 'Its body is not kept, so only its numbers are known.'
          : 'Its body has no messages.'}
      </p>
    )
  return (
    <>
      {added.gone === 0 ? null : (
        <p className={classes.quiet}>
          {allOf(added.gone, 'messages')} at the end of the request before {added.gone === 1 ? 'is' : 'are'}{' '}
          no longer in this one.
        </p>
      )}
      {added.said.length === 0 ? (
        <p className={classes.quiet}>No new message.</p>
      ) : (
        <dl className={classes.said}>
          {added.said.map(({ role, text }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id, and stay in their order
            <Words key={at} role={role} text={text} />
          ))}
        </dl>
      )}
    </>
  )
}

const shownMost = 600

function Words({ role, text }: { role: string; text: string }) {
  const [isWhole, setWhole] = useState(text.length <= shownMost)
  return (
    <>
      <dt>{role}</dt>
      <dd>
        {isWhole ? text : `${text.slice(0, shownMost)}… `}
        {isWhole ? null : (
          <Button variant="subtle" onClick={() => setWhole(true)}>
            Show {count(text.length - shownMost)} more characters
          </Button>
        )}
      </dd>
    </>
  )
}
