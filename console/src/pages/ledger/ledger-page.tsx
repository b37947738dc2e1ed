import { useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { bytes, count, duration } from '../../format/numbers.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Rows, type RowsColumn } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { Holds, LedgerNumbers, LedgerWords } from './ledger-state.tsx'
import { signWords } from './ledger-words.ts'
import { VerifyLedger } from './verification.tsx'

const liveMs = 2_000

/** Is every request written down? In words first, then the numbers. */
export function LedgerPage() {
  return (
    <Page
      title="Ledger"
      lead={<span>As the process that answers sees it, read every {duration(liveMs)}</span>}
    >
      <Live />
    </Page>
  )
}

function Live() {
  const ledger = useQuery({
    queryKey: ['ledger'],
    refetchInterval: every(liveMs),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/ledger', { signal })),
  })
  const health = useQuery({
    queryKey: ['health'],
    refetchInterval: every(liveMs),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
  const ledgerProblem = usePart('the ledger', ledger)
  const healthProblem = usePart('the processes', health)
  return (
    <>
      {ledgerProblem}
      {ledger.isPending ? <Waiting rows={6} /> : null}
      {/* What was read before an error is old: it would say that all is well. */}
      {ledger.data === undefined || ledger.error !== null ? null : (
        <>
          <LedgerWords ledger={ledger.data} />
          <LedgerNumbers ledger={ledger.data} />
          <Holds holds={ledger.data.holds} />
        </>
      )}
      {healthProblem}
      {health.data === undefined || health.error !== null ? null : (
        <Processes health={health.data} now={health.dataUpdatedAt} />
      )}
      <VerifyLedger />
    </>
  )
}

type Process = Schema<'Health'>['processes'][number]

function Processes({ health, now }: { health: Schema<'Health'>; now: number }) {
  const { processes, sockets, queues, database } = health
  const columns: readonly RowsColumn<Process>[] = [
    { head: 'Process', cell: ({ id, host, pid }) => <span title={id}>{`${pid} on ${host}`}</span> },
    { head: 'Started', keeps: true, cell: ({ started_at }) => <Moment at={started_at} /> },
    {
      head: 'Last seen',
      keeps: true,
      cell: ({ heartbeat_at }) => {
        const { tone, words } = signWords(heartbeat_at, now)
        return (
          <span title={heartbeat_at}>
            <State tone={tone}>{words}</State>
          </span>
        )
      },
    },
  ]
  return (
    <>
      <Section title="Processes">
        <Rows
          label="Processes and their last signs"
          columns={columns}
          rows={processes}
          idOf={({ id }) => id}
          none="No process gives a sign."
        />
      </Section>
      <Section title="Beside it">
        <Facts
          facts={[
            [
              'Postgres',
              database.reachable
                ? `answers${database.migrations === null ? '' : `, ${count(database.migrations)} migrations`}`
                : 'does not answer',
            ],
            ['Queues', queues.reachable ? `answer, in ${queues.backend}` : 'do not answer'],
            [
              'WebSockets',
              sockets.open === 0
                ? 'none is open'
                : `${count(sockets.open)} open, with ${bytes(sockets.state_bytes)} of answers remembered`,
            ],
          ]}
        />
      </Section>
    </>
  )
}
