import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Texts } from '../../console-search.ts'
import { count } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Acknowledge } from './acknowledge.tsx'
import classes from './alerts.module.css'
import type { useOpenEpisodes } from './alerts-query.ts'

/** What is wrong now, in sentences, the newest unacknowledged ones first. */
export function OpenEpisodes({
  list,
  openId,
  search,
  empty,
}: {
  list: ReturnType<typeof useOpenEpisodes>
  openId: string | undefined
  search: Texts
  empty: ReactNode
}) {
  const { rows, error, isPending, isWhole, isMoreComing, more, again } = list
  const hasFailed = error !== null && error !== undefined
  if (rows.length === 0 && hasFailed) return <Problem error={error} onAgain={again} />
  if (isPending) return <WaitingRows />
  if (rows.length === 0) return <>{empty}</>
  return (
    <div className={classes.wall}>
      {hasFailed ? <Problem error={error} onAgain={again} /> : null}
      <ul className={classes.episodes} aria-label="What is wrong now">
        {rows.map((episode) => (
          <li
            key={episode.id}
            className={classes.episode}
            data-open={episode.id === openId || undefined}
            data-known={episode.acknowledged !== null || undefined}
            data-over={episode.unheld_since !== null || undefined}
          >
            <div className={classes.words}>
              <Link
                to="/console/alerts/$id"
                params={{ id: episode.id }}
                search={search}
                replace={openId !== undefined}
                className={classes.summary ?? ''}
              >
                {episode.summary}
              </Link>
              <div className={classes.about}>
                {episode.unheld_since !== null ? (
                  <State tone="good">
                    no longer so since <Moment at={episode.unheld_since} />, closes by itself
                  </State>
                ) : episode.acknowledged === null ? (
                  <State tone="bad">open</State>
                ) : (
                  <State tone="warning">acknowledged by {episode.acknowledged.by}</State>
                )}
                <span>
                  {episode.unheld_since === null ? 'since' : 'opened'} <Moment at={episode.opened_at} />
                </span>
                <span>
                  {episode.unheld_since === null ? 'now' : 'last'} {episode.value}
                </span>
                <span>rule {episode.rule.name}</span>
              </div>
            </div>
            <Acknowledge episode={episode} />
          </li>
        ))}
      </ul>
      <div className={classes.foot}>
        {isWhole ? (
          rows.length === 1 ? (
            'This is all.'
          ) : (
            `All ${count(rows.length)} open episodes`
          )
        ) : (
          <Button variant="default" loading={isMoreComing} onClick={more}>
            Read more
          </Button>
        )}
      </div>
    </div>
  )
}
