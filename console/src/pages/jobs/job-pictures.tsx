import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client.ts'
import type { List } from '../../api/list.ts'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'
import { isShown, jobTones } from './job-state.ts'
import classes from './jobs.module.css'

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
  if (rows.length === 0 && error !== null && error !== undefined)
    return <Problem error={error} onAgain={again} />
  if (isPending) return <WaitingRows />
  if (rows.length === 0) return <>{empty}</>
  return (
    <div className={classes.wall}>
      <ul>
        {rows.map((job) => (
          <li key={job.id}>
            <button
              type="button"
              className={classes.job}
              data-open={job.id === openId || undefined}
              onClick={() => onOpen(job)}
            >
              <Preview job={job} />
              <State tone={jobTones[job.status] ?? 'quiet'}>
                {job.error === null ? job.status : job.error.kind}
              </State>
              <span className="tg-quiet">
                {job.model}, <Moment at={job.created_at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {error === null || error === undefined ? null : <Problem error={error} onAgain={again} />}
      {isWhole ? null : (
        <Button variant="default" loading={isMoreComing} onClick={more}>
          Read more
        </Button>
      )}
    </div>
  )
}

function Preview({ job: { result, partial_images, status, n } }: { job: Job }) {
  const url = result?.data[0]?.url ?? partial_images[0]?.url
  if (url !== undefined && isShown(url)) return <img src={url} alt={`The first of ${n}`} loading="lazy" />
  return (
    <span className={classes.none}>
      {url === undefined
        ? status === 'queued'
          ? 'waits'
          : status === 'running'
            ? 'is being made'
            : 'no image'
        : 'stands in the bucket'}
    </span>
  )
}
