import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { bytes } from '../../format/numbers.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { Notice, State } from '../../parts/tone.tsx'
import { Duration, Moment, Money } from '../../parts/values.tsx'
import { isOpen, isShown, jobTones } from './job-state.ts'
import classes from './jobs.module.css'

const liveMs = 2_000

export function ImageSheet({ id, onClose }: { id: string; onClose(): void }) {
  const job = useQuery({
    queryKey: ['image-jobs', id],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/image-jobs/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data.status) ? liveMs : false),
  })
  return (
    <JobSheet
      id={id}
      job={job.data}
      error={job.error}
      onAgain={() => void job.refetch()}
      onClose={onClose}
      cancel={() => ask(api.POST('/admin/v1/image-jobs/{id}/cancel', { params: { path: { id } } }))}
    >
      {job.data?.result?.data.map(({ url, content_type, bytes: size, revised_prompt }) => (
        <figure key={url} className={classes.picture}>
          {isShown(url) ? (
            <img src={url} alt={revised_prompt ?? 'What the job has made'} />
          ) : (
            <a href={url} rel="noreferrer">
              Open the image in its bucket
            </a>
          )}
          <figcaption className="tg-quiet">
            {content_type}, {bytes(size)}. {revised_prompt}
          </figcaption>
        </figure>
      ))}
      {job.data?.position === null || job.data === undefined ? null : (
        <Notice tone="info">
          {job.data.position === 1
            ? 'It is the next of its tenant.'
            : `It is number ${job.data.position} of its tenant.`}
        </Notice>
      )}
    </JobSheet>
  )
}

export function AnswerSheet({ id, onClose }: { id: string; onClose(): void }) {
  const job = useQuery({
    queryKey: ['background-answers', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/background-answers/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) => (state.data !== undefined && isOpen(state.data.status) ? liveMs : false),
  })
  return (
    <JobSheet
      id={id}
      job={job.data}
      error={job.error}
      onAgain={() => void job.refetch()}
      onClose={onClose}
      cancel={() => ask(api.POST('/admin/v1/background-answers/{id}/cancel', { params: { path: { id } } }))}
    />
  )
}

type Job = Pick<
  Schema<'AdminImageJob'>,
  | 'status'
  | 'model'
  | 'created_at'
  | 'started_at'
  | 'finished_at'
  | 'attempts'
  | 'latency_ms'
  | 'error'
  | 'cost_nano_usd'
  | 'webhook'
  | 'tenant_id'
  | 'key_id'
>

/** What jobs of both kinds have in common. */
function JobSheet({
  id,
  job,
  error,
  onAgain,
  onClose,
  cancel,
  children,
}: {
  id: string
  job: Job | undefined
  error: unknown
  onAgain(): void
  onClose(): void
  cancel(): Promise<unknown>
  children?: React.ReactNode
}) {
  const may = useMay()
  const queries = useQueryClient()
  const stop = useMutation({
    mutationFn: cancel,
    onSuccess: async () => {
      done('The job is cancelled. What it held is given back; what was made is charged.')
      await queries.invalidateQueries({ queryKey: ['image-jobs'] })
      await queries.invalidateQueries({ queryKey: ['background-answers'] })
    },
    onError: (cause) => fails('Cancelling the job', cause),
  })
  return (
    <Sheet
      title={job === undefined ? 'Job' : job.model}
      onClose={onClose}
      actions={
        <>
          <Copy text={id} what="the job's id" />
          <Button variant="default" component={Link} to={`/console/log/${id}`}>
            Its row in the log
          </Button>
          {job !== undefined && isOpen(job.status) && may('jobs', 'write') ? (
            <Button variant="default" color="red" loading={stop.isPending} onClick={() => stop.mutate()}>
              Cancel the job
            </Button>
          ) : null}
        </>
      }
    >
      {error === null || error === undefined ? null : <Problem error={error} onAgain={onAgain} />}
      {children}
      {job === undefined ? null : (
        <>
          {job.error === null ? null : (
            <Notice tone="bad">
              <strong>{job.error.kind}</strong> {job.error.message}
            </Notice>
          )}
          <Facts
            facts={[
              [
                'Status',
                <State key="status" tone={jobTones[job.status] ?? 'quiet'}>
                  {job.status}
                </State>,
              ],
              ['Accepted', <Moment key="made" at={job.created_at} />],
              ['Started', <Moment key="started" at={job.started_at} none="not yet" />],
              ['Ended', <Moment key="ended" at={job.finished_at} none="not yet" />],
              ['In the queue', <Duration key="queue" ms={job.latency_ms.queue} />],
              ['Total', <Duration key="total" ms={job.latency_ms.total} />],
              ['Cost', <Money key="cost" nanoUsd={job.cost_nano_usd} />],
              [
                'Tenant',
                <Link key="tenant" to="/console/tenants/$id" params={{ id: job.tenant_id }}>
                  {job.tenant_id}
                </Link>,
              ],
              [
                'Key',
                <Link key="key" to="/console/keys/$id" params={{ id: job.key_id }}>
                  {job.key_id}
                </Link>,
              ],
              [
                'Webhook',
                job.webhook === null ? 'none' : `${job.webhook.status}, ${job.webhook.tries} tries`,
              ],
              ...job.attempts.map(
                ({ channel, status, error: failure, total_ms }, at) =>
                  [
                    `Attempt ${at + 1}`,
                    <span key={channel}>
                      {channel}: {status ?? 'no answer'}{' '}
                      {failure === null ? '' : `${failure.kind}: ${failure.message}`}{' '}
                      <Duration ms={total_ms} />
                    </span>,
                  ] as const,
              ),
            ]}
          />
        </>
      )}
    </Sheet>
  )
}
