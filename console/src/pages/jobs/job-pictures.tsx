import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Schema } from '../../api/client.ts'
import type { List } from '../../api/list.ts'
import { count } from '../../format/numbers.ts'
import { Clock } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { jobTones } from './job-state.ts'
import classes from './jobs.module.css'
import { Picture } from './picture.tsx'
import { WaitingTiles } from './waiting-tiles.tsx'

type Job = Schema<'AdminImageJob'>

/** The pictures first: each job by what it made, or by why it made nothing. */
export function JobPictures({
  list,
  openId,
  onOpen,
  empty,
}: {
  list: List<Job>
  openId: string | undefined
  onOpen(job: Job): void
  empty: ReactNode
}) {
  const { rows, error, isPending, isWhole, isMoreComing, more, again } = list
  const open = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (openId !== undefined) open.current?.scrollIntoView({ block: 'nearest' })
  }, [openId])
  if (rows.length === 0 && error !== null && error !== undefined)
    return <Problem error={error} onAgain={again} />
  if (isPending) return <WaitingTiles />
  if (rows.length === 0) return <>{empty}</>
  return (
    <div className={classes.wall}>
      <ul className={classes.tiles} aria-label="Image jobs">
        {rows.map((job, at) => (
          <li key={job.id}>
            <button
              type="button"
              ref={job.id === openId ? open : undefined}
              className={classes.job}
              data-open={job.id === openId || undefined}
              aria-pressed={job.id === openId}
              onClick={() => onOpen(job)}
            >
              <Preview job={job} />
              <State tone={jobTones[job.status] ?? 'quiet'}>
                {job.error === null ? job.status : job.error.kind}
              </State>
              <span className={classes.line}>
                <Clock at={job.created_at} after={rows[at - 1]?.created_at} withMillis={false} />
                <span className={classes.model} title={job.model}>
                  {job.model}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {error === null || error === undefined ? null : <Problem error={error} onAgain={again} />}
      <div className={classes.foot}>
        {isWhole ? (
          `All ${count(rows.length)} jobs`
        ) : (
          <Button variant="default" loading={isMoreComing} onClick={more}>
            Read more
          </Button>
        )}
      </div>
    </div>
  )
}

function Preview({ job: { result, partial_images, status, position, n, error } }: { job: Job }) {
  const made = result?.data ?? []
  const link = made[0]?.url ?? partial_images[0]?.url
  return (
    <span className={classes.preview}>
      {link === undefined ? (
        <span className={classes.none}>
          {status === 'queued'
            ? position === null
              ? 'It waits.'
              : `It waits: number ${count(position)} of its tenant.`
            : status === 'running'
              ? 'It is being made.'
              : (error?.message ?? 'No image')}
        </span>
      ) : (
        <Picture link={link} alt={made.length > 0 ? `Image 1 of ${n}` : 'A preview'} />
      )}
      {made.length > 1 ? <span className={classes.badge}>{made.length} images</span> : null}
    </span>
  )
}
