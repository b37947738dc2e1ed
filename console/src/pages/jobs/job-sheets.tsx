import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { bytes, count } from '../../format/numbers.ts'
import { Notice } from '../../parts/state.tsx'
import { JobPrompt } from './job-prompt.tsx'
import { JobSheet } from './job-sheet.tsx'
import { isOpen } from './job-state.ts'
import classes from './jobs.module.css'
import { Picture } from './picture.tsx'

const liveMs = 2_000

function againMs({ state }: { state: { data?: { status: string } | undefined } }): number | false {
  return state.data !== undefined && isOpen(state.data.status) ? liveMs : false
}

export function ImageSheet({ id, onClose }: { id: string; onClose(): void }) {
  const job = useQuery({
    queryKey: ['image-jobs', id],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/image-jobs/{id}', { params: { path: { id } }, signal })),
    refetchInterval: againMs,
  })
  return (
    <JobSheet
      id={id}
      kind="image"
      job={job.data}
      error={job.error}
      onAgain={() => void job.refetch()}
      onClose={onClose}
      cancel={() => ask(api.POST('/admin/v1/image-jobs/{id}/cancel', { params: { path: { id } } }))}
    >
      {job.data === undefined ? null : (
        <>
          <Place job={job.data} />
          {isOpen(job.data.status) ? null : <JobPrompt id={id} />}
          <Images job={job.data} />
        </>
      )}
    </JobSheet>
  )
}

function Place({ job: { position, status } }: { job: Schema<'AdminImageJob'> }) {
  if (position === null)
    return status === 'running' ? <Notice tone="info">Its images are being made.</Notice> : null
  return (
    <Notice tone="info">
      {position === 1
        ? 'It waits, as the next job of its tenant.'
        : `It waits: ${count(position - 1)} jobs of its tenant come first.`}
    </Notice>
  )
}

function Images({ job: { result, partial_images } }: { job: Schema<'AdminImageJob'> }) {
  const made = result?.data ?? []
  if (made.length === 0 && partial_images.length === 0) return null
  return (
    <div className={classes.pictures}>
      {made.map(({ url, content_type, bytes: size, revised_prompt }, at) => (
        <figure key={new URL(url).pathname} className={classes.picture}>
          <Picture isWhole link={url} alt={revised_prompt ?? `Image ${at + 1} of ${made.length}`} />
          <figcaption className="tg-quiet">
            {content_type}, {bytes(size)}
            {revised_prompt === undefined ? '' : `. Drawn as: ${revised_prompt}`}
          </figcaption>
        </figure>
      ))}
      {made.length > 0
        ? null
        : partial_images.map(({ index, url }) => (
            <figure key={`${index} ${new URL(url).pathname}`} className={classes.picture}>
              <Picture isWhole link={url} alt={`A preview of image ${index + 1}`} />
              <figcaption className="tg-quiet">a preview of image {index + 1}</figcaption>
            </figure>
          ))}
    </div>
  )
}

export function AnswerSheet({ id, onClose }: { id: string; onClose(): void }) {
  const may = useMay()
  const job = useQuery({
    queryKey: ['background-answers', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/background-answers/{id}', { params: { path: { id } }, signal })),
    refetchInterval: againMs,
  })
  return (
    <JobSheet
      id={id}
      kind="answer"
      job={job.data}
      error={job.error}
      onAgain={() => void job.refetch()}
      onClose={onClose}
      cancel={() => ask(api.POST('/admin/v1/background-answers/{id}/cancel', { params: { path: { id } } }))}
      facts={
        job.data === undefined
          ? []
          : [
              [
                'Its client knows it as',
                <span key="id" className="tg-mono">
                  {job.data.answer_id}
                </span>,
              ],
              ['Events to have again', count(job.data.events)],
              ['Runs', count(job.data.runs)],
            ]
      }
    >
      {job.data === undefined || isOpen(job.data.status) || !may('log') ? null : (
        <span className="tg-quiet">
          The request and its answer are in{' '}
          <Link to="/console/log/$id" params={{ id }}>
            its row of the log
          </Link>
          , if the key keeps them.
        </span>
      )}
    </JobSheet>
  )
}
