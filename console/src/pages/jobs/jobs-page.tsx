import { Button, Select, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { count } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import type { Column } from '../../parts/grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { Teach } from '../../parts/teach.tsx'
import { State } from '../../parts/tone.tsx'
import { Clock, Duration, Money, None } from '../../parts/values.tsx'
import { gatewayUrl } from '../../site.ts'
import { JobPictures } from './job-pictures.tsx'
import { AnswerSheet, ImageSheet } from './job-sheets.tsx'
import { jobTones } from './job-state.ts'
import { useAnswerJobs, useImageJobs } from './jobs-query.ts'

const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

/** Requests that are made in the background: images, and answers. */
export function JobsPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const kind = search.kind === 'answers' ? 'answers' : 'images'
  const go = (next: Texts) => void navigate({ to: '/console/jobs', search: next })
  return (
    <Page
      wide
      title="Jobs"
      lead={<Queues />}
      actions={
        <>
          <Select
            size="xs"
            aria-label="Status"
            placeholder="Any status"
            clearable
            data={[...statuses]}
            value={typeof search.status === 'string' ? search.status : null}
            onChange={(status) => {
              const { status: _status, ...rest } = search
              go(status === null ? rest : { ...rest, status })
            }}
          />
          {kind === 'images' ? (
            <Button
              variant="default"
              onClick={() => go({ ...search, view: search.view === 'table' ? 'pictures' : 'table' })}
            >
              {search.view === 'table' ? 'Show pictures' : 'Show a table'}
            </Button>
          ) : null}
        </>
      }
    >
      <Tabs value={kind} onChange={(next) => go(next === 'answers' ? { kind: 'answers' } : {})}>
        <Tabs.List>
          <Tabs.Tab value="images">Images</Tabs.Tab>
          <Tabs.Tab value="answers">Answers in the background</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {kind === 'images' ? <Images search={search} /> : <Answers search={search} />}
    </Page>
  )
}

/** How long the queues are. */
function Queues() {
  const may = useMay()
  const { data } = useQuery({
    queryKey: ['health'],
    enabled: may('health'),
    refetchInterval: 5_000,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
  if (data === undefined) return null
  const { images, answers, images_waiting, answers_waiting } = data.queues
  return (
    <span>
      Images: {count(images?.active ?? 0)} run, {count(images_waiting ?? 0)} wait. Answers:{' '}
      {count(answers?.active ?? 0)} run, {count(answers_waiting ?? 0)} wait.
    </span>
  )
}

type ImageJob = Schema<'AdminImageJob'>
type AnswerJob = Schema<'AdminBackgroundAnswer'>

const common = [
  {
    id: 'tenant',
    head: 'Tenant',
    width: 120,
    isWide: true,
    cell: ({ tenant_id }: { tenant_id: string }) => <span title={tenant_id}>…{tenant_id.slice(-8)}</span>,
  },
  {
    id: 'cost',
    head: 'Cost',
    width: 88,
    align: 'right' as const,
    isWide: true,
    cell: (job: { cost_nano_usd: string | null }) => <Money nanoUsd={job.cost_nano_usd} />,
  },
  {
    id: 'total',
    head: 'Total',
    width: 88,
    align: 'right' as const,
    cell: (job: { latency_ms: { total: number | null } }) => <Duration ms={job.latency_ms.total} />,
  },
]

function Status({ job }: { job: Pick<ImageJob, 'status' | 'error'> }) {
  return (
    <State tone={jobTones[job.status] ?? 'quiet'}>
      {job.status}
      {job.error === null ? '' : `: ${job.error.kind}`}
    </State>
  )
}

const imageColumns: readonly Column<ImageJob>[] = [
  {
    id: 'at',
    head: 'Time',
    width: 152,
    cell: (job, above) => <Clock at={job.created_at} after={above?.created_at} />,
  },
  { id: 'status', head: 'Status', width: 176, grows: true, cell: (job) => <Status job={job} /> },
  { id: 'model', head: 'Model', width: 144, grows: true, cell: ({ model }) => model },
  { id: 'n', head: 'Images', width: 64, align: 'right', cell: ({ n }) => n },
  {
    id: 'position',
    head: 'Place',
    width: 64,
    align: 'right',
    isWide: true,
    cell: ({ position }) => position ?? <None />,
  },
  ...common,
]

const answerColumns: readonly Column<AnswerJob>[] = [
  {
    id: 'at',
    head: 'Time',
    width: 152,
    cell: (job, above) => <Clock at={job.created_at} after={above?.created_at} />,
  },
  { id: 'status', head: 'Status', width: 176, grows: true, cell: (job) => <Status job={job} /> },
  { id: 'model', head: 'Model', width: 144, grows: true, cell: ({ model }) => model },
  {
    id: 'events',
    head: 'Events',
    width: 72,
    align: 'right',
    isWide: true,
    cell: ({ events }) => count(events),
  },
  { id: 'runs', head: 'Runs', width: 56, align: 'right', isWide: true, cell: ({ runs }) => runs },
  ...common,
]

function Images({ search }: { search: Texts }) {
  const { id } = useParams({ strict: false })
  const navigate = useNavigate()
  const list = useImageJobs(search)
  const open = (job: { id: string }) =>
    void navigate({ to: '/console/jobs/$id', params: { id: job.id }, search, replace: id !== undefined })
  const empty = (
    <Teach title="No image job">
      <p>A request for images becomes a job. Its pictures will be here. Make one with a key:</p>
      <Code
        what="the command"
        text={`curl ${gatewayUrl}/v1/images/generations -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' -d '{"model": "demo-image", "prompt": "a harbour at night"}'`}
      />
    </Teach>
  )
  return (
    <WithSheet
      sheet={
        id === undefined ? null : (
          <ImageSheet id={id} onClose={() => void navigate({ to: '/console/jobs', search })} />
        )
      }
    >
      {search.view === 'table' ? (
        <ListGrid<ImageJob>
          label="Image jobs"
          things="jobs"
          list={list}
          columns={imageColumns}
          idOf={idOf}
          openId={id}
          onOpen={open}
          toneOf={({ status }) => (status === 'failed' ? 'bad' : undefined)}
          empty={empty}
        />
      ) : (
        <JobPictures list={list} openId={id} onOpen={open} empty={empty} />
      )}
    </WithSheet>
  )
}

function Answers({ search }: { search: Texts }) {
  const { id } = useParams({ strict: false })
  const navigate = useNavigate()
  const list = useAnswerJobs(search)
  return (
    <WithSheet
      sheet={
        id === undefined ? null : (
          <AnswerSheet id={id} onClose={() => void navigate({ to: '/console/jobs', search })} />
        )
      }
    >
      <ListGrid<AnswerJob>
        label="Answers in the background"
        things="jobs"
        list={list}
        columns={answerColumns}
        idOf={idOf}
        openId={id}
        onOpen={(job) =>
          void navigate({
            to: '/console/jobs/$id',
            params: { id: job.id },
            search,
            replace: id !== undefined,
          })
        }
        toneOf={({ status }) => (status === 'failed' ? 'bad' : undefined)}
        empty={
          <Teach title="No answer in the background">
            A request of <span className="tg-mono">/v1/responses</span> with{' '}
            <span className="tg-mono">"background": true</span> becomes a job where its key keeps answers.
          </Teach>
        }
      />
    </WithSheet>
  )
}

function idOf({ id }: { id: string }): string {
  return id
}
