import { Button, Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { moment } from '../../format/moments.ts'
import { count } from '../../format/numbers.ts'
import { Moment, None } from '../../parts/formatted-values.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { State } from '../../parts/state.tsx'
import { errorFilter, errorTone, errorWords } from './error-words.ts'
import classes from './overview.module.css'
import { inLog } from './overview-address.ts'
import { type Terms, useErrors } from './overview-query.ts'

const few = 3

/**
 * Which errors there are, the most frequent first: since when, the last one, and the way to all of them.
 * `isAny`: as the numbers of the page say, which are there earlier; so its place is kept.
 */
export function ErrorGroups({ terms, search, isAny }: { terms: Terms; search: Texts; isAny: boolean }) {
  const { role } = useSession()
  const isMember = role === 'member'
  const [isWhole, setWhole] = useState(false)
  const errors = useErrors(terms)
  const problem = usePart('the errors', errors)
  if (problem === null) return null
  const { data } = errors
  return (
    <section aria-label="Errors by kind" className={isAny ? classes.errorsPlace : undefined}>
      <div className={classes.errorsHead}>
        <h2>Errors by kind</h2>
        {data === undefined || data.exact ? null : (
          <span className="tg-quiet">
            Counted back to {moment(new Date(data.progress.searched_from))}: choose less time to count all.
          </span>
        )}
      </div>
      {problem !== undefined ? (
        problem
      ) : data === undefined ? (
        <Skeleton height={isAny ? 160 : 20} radius={6} />
      ) : data.data.length === 0 ? (
        <p className="tg-quiet">No request failed or was refused in this time.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
        <section className={classes.scrolls} tabIndex={0} aria-label="Table of errors">
          <table className={`${classes.table} ${classes.errors}`}>
            <thead>
              <tr>
                <th scope="col">Error, and what the last client was told</th>
                <th scope="col">Endpoint</th>
                {isMember ? null : <th scope="col">Last channel</th>}
                <th scope="col" data-number>
                  Requests
                </th>
                <th scope="col">First in this time</th>
                <th scope="col">Last</th>
              </tr>
            </thead>
            <tbody>
              {data.data.slice(0, isWhole ? undefined : few).map((group) => (
                <Row key={JSON.stringify(errorFilter(group, isMember))} {...{ group, search, isMember }} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {data === undefined ? null : <Rest data={data} isWhole={isWhole} onWhole={() => setWhole(true)} />}
    </section>
  )
}

function Row({
  group,
  search,
  isMember,
}: {
  group: Schema<'LogErrors'>['data'][number]
  search: Texts
  isMember: boolean
}) {
  const { endpoint, channel, requests, first_at, last_at, last_request_id, last_message } = group
  const words = errorWords(group)
  const address = inLog(search, errorFilter(group, isMember))
  return (
    <tr>
      <th scope="row">
        <State tone={errorTone(group)}>
          <Link to="/console/log" search={address}>
            {words}
          </Link>
        </State>
        {last_message === null ? null : (
          <span className={classes.message} title={last_message}>
            {last_message}
          </span>
        )}
      </th>
      <td>{endpoint ?? <None why="Very many paths, each with few errors" />}</td>
      {isMember ? null : <td>{channel ?? <None why="No channel was asked" />}</td>}
      <td data-number>{count(requests)}</td>
      <td>
        <Moment at={first_at} />
      </td>
      <td>
        <Link to="/console/log/$id" params={{ id: last_request_id }} search={address}>
          <Moment at={last_at} />
          <span className="tg-heard">, the last request with {words}</span>
        </Link>
      </td>
    </tr>
  )
}

/** What the table leaves out. */
function Rest({ data, isWhole, onWhole }: { data: Schema<'LogErrors'>; isWhole: boolean; onWhole(): void }) {
  const hidden = isWhole ? 0 : Math.max(0, data.data.length - few)
  if (hidden > 0)
    return (
      <Button variant="subtle" mt={4} onClick={onWhole}>
        Show {count(hidden)} more
      </Button>
    )
  if (data.other === null) return null
  return (
    <p className="tg-quiet">
      {count(data.other.groups)} more with {count(data.other.requests)} requests.
    </p>
  )
}
