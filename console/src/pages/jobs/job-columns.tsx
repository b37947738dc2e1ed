import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import { Clock, Duration, Money, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { State } from '../../parts/state.tsx'
import { isOpen, jobTones } from './job-state.ts'

type ImageJob = Schema<'AdminImageJob'>
type AnswerJob = Schema<'AdminBackgroundAnswer'>
type Common = Pick<
  ImageJob,
  'created_at' | 'status' | 'error' | 'model' | 'tenant_id' | 'cost_nano_usd' | 'latency_ms'
>

/** The columns of both kinds. `tenantName`: of an id; undefined: the reader sees one tenant only. */
function commonColumns(tenantName: ((id: string) => string) | undefined) {
  const first: Column<Common>[] = [
    {
      id: 'at',
      head: 'Time',
      width: 160,
      sort: 'created_at',
      cell: (job, above) => <Clock at={job.created_at} after={above?.created_at} />,
    },
    {
      id: 'status',
      head: 'Status',
      width: 176,
      grows: true,
      value: ({ status }) => status,
      cell: ({ status, error }) => (
        <span title={error?.message}>
          <State tone={jobTones[status] ?? 'quiet'}>
            {status}
            {error === null ? '' : `: ${error.kind}`}
          </State>
        </span>
      ),
    },
    {
      id: 'model',
      head: 'Model',
      width: 144,
      grows: true,
      value: ({ model }) => model,
      cell: ({ model }) => <span title={model}>{model}</span>,
    },
  ]
  const tenant: Column<Common>[] =
    tenantName === undefined
      ? []
      : [
          {
            id: 'tenant',
            head: 'Tenant',
            width: 144,
            isWide: true,
            value: ({ tenant_id }) => tenantName(tenant_id),
            cell: ({ tenant_id }) => <span title={tenant_id}>{tenantName(tenant_id)}</span>,
          },
        ]
  const last: Column<Common>[] = [
    {
      id: 'queue',
      head: 'Waited',
      width: 88,
      align: 'right',
      isWide: true,
      cell: ({ latency_ms }) => <Duration ms={latency_ms.queue} />,
    },
    {
      id: 'total',
      head: 'In all',
      width: 88,
      align: 'right',
      cell: ({ latency_ms }) => <Duration ms={latency_ms.total} />,
    },
    {
      id: 'cost',
      head: 'Cost',
      width: 88,
      align: 'right',
      isWide: true,
      cell: ({ cost_nano_usd, status }) => (
        <Money
          nanoUsd={cost_nano_usd}
          unknown={isOpen(status) ? 'It is known when the job has ended.' : 'The cost is unknown.'}
        />
      ),
    },
  ]
  return { first, tenant, last }
}

export function imageColumns(tenantName: ((id: string) => string) | undefined): readonly Column<ImageJob>[] {
  const { first, tenant, last } = commonColumns(tenantName)
  return [
    ...first,
    { id: 'n', head: 'Images', width: 64, align: 'right', cell: ({ n }) => count(n) },
    {
      id: 'position',
      head: 'Place',
      about: 'Place in the queue of its tenant',
      width: 64,
      align: 'right',
      isWide: true,
      cell: ({ position }) => (position === null ? <None why="It does not wait" /> : count(position)),
    },
    ...tenant,
    ...last,
  ]
}

export function answerColumns(
  tenantName: ((id: string) => string) | undefined,
): readonly Column<AnswerJob>[] {
  const { first, tenant, last } = commonColumns(tenantName)
  return [
    ...first,
    {
      id: 'events',
      head: 'Events',
      width: 72,
      align: 'right',
      isWide: true,
      cell: ({ events }) => count(events),
    },
    { id: 'runs', head: 'Runs', width: 56, align: 'right', isWide: true, cell: ({ runs }) => count(runs) },
    ...tenant,
    ...last,
  ]
}
