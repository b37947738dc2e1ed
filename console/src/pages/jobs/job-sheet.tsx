import { Button, Skeleton } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { useTenantName } from '../../api/tenant-names.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Duration, Moment, Money } from '../../parts/formatted-values.tsx'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { cancelWords, isOpen, jobTones, webhookWords } from './job-state.ts'

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
export function JobSheet({
  id,
  kind,
  job,
  error,
  onAgain,
  onClose,
  cancel,
  facts = [],
  children,
}: {
  id: string
  kind: 'image' | 'answer'
  job: Job | undefined
  error: unknown
  onAgain(): void
  onClose(): void
  cancel(): Promise<{ status: string }>
  facts?: readonly (readonly [string, ReactNode])[]
  children?: ReactNode
}) {
  const may = useMay()
  const queries = useQueryClient()
  const [isCancelling, setCancelling] = useState(false)
  const isUnderWay = job !== undefined && isOpen(job.status)
  const act = async () => {
    const { status } = await cancel()
    done(
      isOpen(status) || status === 'cancelled'
        ? 'The job is cancelled'
        : `The job had ended before: ${status}. Nothing was cancelled.`,
    )
    await Promise.all(
      [['image-jobs'], ['background-answers'], ['health']].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    )
  }
  return (
    <Sheet
      title={job === undefined ? 'Job' : `Job for ${job.model}`}
      onClose={onClose}
      actions={
        <>
          <Copy text={id} what="the job's id" />
          {job !== undefined && !isUnderWay && may('log') ? (
            <Button variant="default" component={Link} to={`/console/log/${id}`}>
              Open its row in the log
            </Button>
          ) : null}
          {isUnderWay && may('jobs', 'write') ? (
            <Button variant="default" c="var(--tg-bad)" onClick={() => setCancelling(true)}>
              Cancel the job
            </Button>
          ) : null}
        </>
      }
    >
      {error === null || error === undefined ? null : <Problem error={error} onAgain={onAgain} />}
      {job === undefined ? (
        error === null ? (
          <Skeleton height={240} radius={6} />
        ) : null
      ) : (
        <>
          {job.error === null ? null : (
            <Notice tone="bad">
              <strong>{job.error.kind}</strong>: {job.error.message}
            </Notice>
          )}
          {children}
          <JobFacts id={id} job={job} more={facts} />
          <AskFirst
            opened={isCancelling}
            onClose={() => setCancelling(false)}
            verb="Cancel the job"
            isBad
            act={act}
          >
            {cancelWords(kind, job)}
          </AskFirst>
        </>
      )}
    </Sheet>
  )
}

function JobFacts({
  id,
  job,
  more,
}: {
  id: string
  job: Job
  more: readonly (readonly [string, ReactNode])[]
}) {
  const tenantName = useTenantName()
  return (
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
        ['Waited', <Duration key="queue" ms={job.latency_ms.queue} />],
        ['In all', <Duration key="total" ms={job.latency_ms.total} />],
        [
          'Cost',
          isOpen(job.status) ? (
            <span key="cost" className="tg-quiet">
              known at its end
            </span>
          ) : (
            <Money key="cost" nanoUsd={job.cost_nano_usd} />
          ),
        ],
        [
          'Tenant',
          <Link key="tenant" to="/console/tenants/$id" params={{ id: job.tenant_id }}>
            {tenantName(job.tenant_id)}
          </Link>,
        ],
        [
          'Key',
          <Link key="key" to="/console/keys/$id" params={{ id: job.key_id }}>
            {job.key_id}
          </Link>,
        ],
        ['Webhook', webhookWords(job.webhook)],
        ...more,
        ...job.attempts.map(
          ({ channel, status, error, total_ms }, at) =>
            [
              `Attempt ${at + 1}`,
              <span key={channel}>
                {channel}: {status === null ? 'no answer' : status}
                {error === null ? '' : `, ${error.kind}: ${error.message}`}, <Duration ms={total_ms} />
              </span>,
            ] as const,
        ),
        [
          'Id',
          <span key="id" className="tg-mono">
            {id}
          </span>,
        ],
      ]}
    />
  )
}
