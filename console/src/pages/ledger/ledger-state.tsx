import { Progress } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { bytes, count, duration } from '../../format/numbers.ts'
import { Code } from '../../parts/code.tsx'
import { Money } from '../../parts/formatted-values.tsx'
import { Facts, Section } from '../../parts/page.tsx'
import { Rows, type RowsColumn } from '../../parts/rows.tsx'
import { Notice } from '../../parts/state.tsx'
import classes from './ledger.module.css'
import { type HeldFor, heldFor, journalShare, ledgerWords, sumOf } from './ledger-words.ts'

type Ledger = Schema<'LedgerState'>

/** What is right and what is wrong, in sentences. */
export function LedgerWords({ ledger }: { ledger: Ledger }) {
  const { journal, adoption, set_aside } = ledger
  const { tone, words } = ledgerWords(ledger)
  return (
    <>
      <Notice tone={tone}>{words}</Notice>
      {journal.trouble === null ? null : (
        <Notice tone="bad">The journal cannot be written: {journal.trouble}</Notice>
      )}
      {adoption.current === null ? null : (
        <Notice tone="info">
          The journal of the dead process {adoption.current} is being shipped to Postgres.
        </Notice>
      )}
      {adoption.failed.map(({ instance, reason }) => (
        <Notice key={instance} tone="warning">
          The journal of the dead process {instance} cannot be adopted: {reason}
        </Notice>
      ))}
      {set_aside.count === 0 ? null : <SetAside {...set_aside} />}
    </>
  )
}

function SetAside({ count: number, ids }: Ledger['set_aside']) {
  const more = number - ids.length
  return (
    <Notice
      tone="warning"
      action={
        <Link to="/docs/$" params={{ _splat: 'reference/ledger-tools' }}>
          How to put them back
        </Link>
      }
    >
      {number === 1 ? '1 frame is set aside' : `${count(number)} frames are set aside`}: Postgres refused what
      they have, or their bytes are damaged. The money of a refused row is booked already. Look at them, mend
      what they name, and replay them:
      <Code text={`tollgate ledger inspect\ntollgate ledger replay ${ids[0] ?? 'ID'}`} what="the commands" />
      <details>
        <summary>Their ids</summary>
        <ul className={classes.ids}>
          {ids.map((id) => (
            <li key={id} className="tg-mono">
              {id}
            </li>
          ))}
        </ul>
        {more > 0 ? <span className="tg-quiet">and {count(more)} more</span> : null}
      </details>
    </Notice>
  )
}

const others = {
  moving: 'Postgres takes their rows',
  standing: 'Postgres does not take their rows',
} as const

/** The numbers behind the sentences. */
export function LedgerNumbers({
  ledger: { unshipped, journal, journals, others: other },
}: {
  ledger: Ledger
}) {
  const { percent, tone } = journalShare(journal)
  return (
    <Section title="This process">
      <Facts
        facts={[
          [
            'On the way to Postgres',
            unshipped.rows === 0
              ? 'nothing'
              : `${count(unshipped.rows)} rows, ${bytes(unshipped.bytes)}, the oldest ${duration(unshipped.oldest_ms)} old`,
          ],
          [
            'Journal on the disk',
            <div key="journal" className={classes.bar}>
              <span>
                {bytes(journal.bytes)} of {bytes(journal.bytes_max)}
              </span>
              <Progress
                value={percent}
                size="sm"
                color={tone === 'good' ? 'accent' : `var(--tg-${tone})`}
                aria-label="How full the journal is"
              />
            </div>,
          ],
          [
            'Journals in its folder',
            journals.length <= 1 ? (
              'its own'
            ) : (
              <span key="journals" title={journals.join('\n')}>
                its own, and {count(journals.length - 1)} of other processes
              </span>
            ),
          ],
          ['Rows of other processes', other === null ? 'none waits for long' : others[other]],
        ]}
      />
    </Section>
  )
}

const heldColumns: readonly RowsColumn<HeldFor>[] = [
  { head: 'Held for', cell: ({ age }) => age },
  { head: 'Requests', align: 'right', cell: ({ count: held }) => count(held) },
  { head: 'Money', align: 'right', cell: ({ nano_usd }) => <Money nanoUsd={nano_usd} /> },
]

export function Holds({ holds }: { holds: Ledger['holds'] }) {
  const held = holds === null ? [] : heldFor(holds)
  return (
    <Section title="Money that running requests hold">
      {holds === null ? (
        <Notice tone="warning">Postgres did not tell it within two seconds.</Notice>
      ) : (
        <Rows
          label="Held money by age"
          columns={heldColumns}
          rows={held}
          idOf={({ age }) => age}
          none="No request holds money now."
          foot={
            <span>
              In all <Money nanoUsd={sumOf(held)} />
              {holds.complete ? '' : ', of the first 100,000 requests'}
            </span>
          }
        />
      )}
    </Section>
  )
}
