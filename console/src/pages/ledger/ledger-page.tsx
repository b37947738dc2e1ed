import { Progress } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schema } from '../../api/client.ts'
import { bytes, count, duration } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/tone.tsx'
import { Moment, Money } from '../../parts/values.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import classes from './ledger.module.css'
import { ledgerWords } from './ledger-words.ts'

const liveMs = 2_000

/** Is every request written down? In words first, then the numbers. */
export function LedgerPage() {
  const ledger = useQuery({
    queryKey: ['ledger'],
    refetchInterval: liveMs,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/ledger', { signal })),
  })
  const health = useQuery({
    queryKey: ['health'],
    refetchInterval: liveMs,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
  return (
    <Page title="Ledger" lead={<span>as the process that answers sees it, every {duration(liveMs)}</span>}>
      {ledger.error === null ? null : <Problem error={ledger.error} onAgain={() => void ledger.refetch()} />}
      {ledger.data === undefined ? (
        ledger.error === null ? (
          <Waiting rows={4} />
        ) : null
      ) : (
        <State ledger={ledger.data} />
      )}
      {health.error === null ? null : (
        <Problem error={health.error} doing="The processes" onAgain={() => void health.refetch()} />
      )}
      {health.data === undefined ? null : <Processes health={health.data} />}
      <Section title="Check every row and every entry">
        <span className="tg-quiet">
          The command reads the whole ledger and compares rows, entries, accounts and reservations. It changes
          nothing.{' '}
          <Link to="/docs/$" params={{ _splat: 'reference/ledger-tools' }}>
            What it checks
          </Link>
        </span>
        <Code text="npm run ledger:verify" what="the command" />
      </Section>
    </Page>
  )
}

function State({ ledger }: { ledger: Schema<'LedgerState'> }) {
  const { unshipped, journal, journals, set_aside, adoption, holds } = ledger
  const { tone, words } = ledgerWords(ledger)
  const share = journal.bytes_max === 0 ? 0 : (journal.bytes / journal.bytes_max) * 100
  return (
    <>
      <Notice tone={tone}>{words}</Notice>
      {journal.trouble === null ? null : (
        <Notice tone="bad">The journal cannot be written: {journal.trouble}</Notice>
      )}
      {adoption.failed.map(({ instance, reason }) => (
        <Notice key={instance} tone="warning">
          The journal of the dead process {instance} cannot be adopted: {reason}
        </Notice>
      ))}
      {set_aside.count === 0 ? null : (
        <Notice
          tone="warning"
          action={
            <Link to="/docs/$" params={{ _splat: 'reference/ledger-tools' }}>
              What to do
            </Link>
          }
        >
          {count(set_aside.count)} frames are set aside, because Postgres refused them. Look at them, mend
          what they name, and replay them:
          <Code
            text={`npm run ledger:inspect\nnpm run ledger:replay -- ${set_aside.ids[0] ?? ''}`}
            what="the commands"
          />
        </Notice>
      )}
      <Facts
        facts={[
          ['Rows on the way', `${count(unshipped.rows)}, the oldest ${duration(unshipped.oldest_ms)} old`],
          ['Bytes on the way', bytes(unshipped.bytes)],
          [
            'Journal on the disk',
            <div key="journal">
              {bytes(journal.bytes)} of {bytes(journal.bytes_max)}
              <Progress value={share} size="sm" mt={4} aria-label="How full the journal is" />
            </div>,
          ],
          ['Journals here', journals.join(', ') || 'none'],
          [
            'Journals of other processes',
            ledger.others === null
              ? 'none wait'
              : ledger.others === 'moving'
                ? 'they move'
                : 'they stand still',
          ],
          ['Being adopted', adoption.current ?? 'none'],
        ]}
      />
      {holds === null ? null : (
        <Section title="Money that running requests hold">
          <table className={classes.table}>
            <thead>
              <tr>
                <th>Since</th>
                <th>Requests</th>
                <th>Held</th>
              </tr>
            </thead>
            <tbody>
              {holds.ages.map(({ under_seconds, count: held, nano_usd }) => (
                <tr key={String(under_seconds)}>
                  <th scope="row">
                    {under_seconds === null ? 'longer' : `less than ${duration(under_seconds * 1_000)}`}
                  </th>
                  <td>{count(held)}</td>
                  <td>
                    <Money nanoUsd={nano_usd} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {holds.complete ? null : (
            <span className="tg-quiet">There are more: only the oldest are counted.</span>
          )}
        </Section>
      )}
    </>
  )
}

function Processes({ health }: { health: Schema<'Health'> }) {
  const { processes, sockets, queues, database } = health
  return (
    <>
      <Section title="Processes">
        <table className={classes.table}>
          <thead>
            <tr>
              <th>Process</th>
              <th>Started</th>
              <th>Last sign</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ id, host, pid, started_at, heartbeat_at }) => (
              <tr key={id}>
                <th scope="row" title={id}>
                  {pid} on {host}
                </th>
                <td>
                  <Moment at={started_at} />
                </td>
                <td>
                  <Moment at={heartbeat_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title="Beside it">
        <Facts
          facts={[
            [
              'Postgres',
              database.reachable ? `answers, ${database.migrations} migrations` : 'does not answer',
            ],
            ['Queues', queues.reachable ? `answer, on ${queues.backend}` : 'do not answer'],
            [
              'WebSockets',
              `${count(sockets.open)} open, with ${bytes(sockets.state_bytes)} of answers remembered`,
            ],
          ]}
        />
      </Section>
    </>
  )
}
