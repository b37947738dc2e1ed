import { Stack } from '@mantine/core'
import type { Schema } from '../../api/client.ts'
import { Moment, Money } from '../../parts/formatted-values.tsx'
import { BodyView } from './body-view.tsx'
import classes from './log-tabs.module.css'

type Detail = Schema<'LogDetail'>

export function AnswerTab({ row: { answer } }: { row: Detail }) {
  if (answer === null) {
    return (
      <p className="tg-quiet">
        The answer is not kept. Answers are kept only where a key or group has{' '}
        <span className="tg-mono">capture_answers</span>.
      </p>
    )
  }
  return (
    <Stack gap={8}>
      {answer.truncated ? <p className="tg-quiet">A part of what the client got is missing.</p> : null}
      <BodyView text={answer.body} label="answer" />
    </Stack>
  )
}

export function NotesTab({ row: { notes } }: { row: Detail }) {
  if (notes.length === 0)
    return <p className="tg-quiet">Nothing of the request was translated, dropped or refused.</p>
  return <Notes notes={notes} />
}

export function Notes({ notes }: { notes: readonly Schema<'TranslationNote'>[] }) {
  if (notes.length === 0) return null
  return (
    <ul className={classes.notes}>
      {notes.map(({ path, action, reason }) => (
        <li key={`${path} ${action}`}>
          <span className="tg-mono">{path}</span> <strong>{action}</strong> {reason}
        </li>
      ))}
    </ul>
  )
}

export function EntriesTab({ row: { entries } }: { row: Detail }) {
  if (entries.length === 0) return <p className="tg-quiet">The request moved no money.</p>
  return (
    <table className={classes.entries}>
      <thead>
        <tr>
          <th>Time</th>
          <th>Kind</th>
          <th>Amount</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ id, created_at, kind, amount_nano_usd, note }) => (
          <tr key={id}>
            <td>
              <Moment at={created_at} />
            </td>
            <td title={note ?? undefined}>{kind}</td>
            <td>
              <Money nanoUsd={amount_nano_usd} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
