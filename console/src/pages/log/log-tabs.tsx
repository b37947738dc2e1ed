import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { Moment, Money } from '../../parts/values.tsx'
import { BodyView } from './body-view.tsx'
import classes from './log-tabs.module.css'

type Detail = Schema<'LogDetail'>

/** The request as the client sent it, redacted, and what a channel would get for it today. */
export function RequestTab({ row }: { row: Detail }) {
  const [isShown, setShown] = useState(false)
  if (row.body === null) {
    return (
      <p className="tg-quiet">
        The body is not kept
        {row.capture === 'none' ? ': the settings of its key, group or tenant say so' : ''}. Set{' '}
        <span className="tg-mono">capture</span> of a key or group to <span className="tg-mono">content</span>{' '}
        to keep bodies.
      </p>
    )
  }
  return (
    <Stack gap={12}>
      {row.capture === 'shape' ? (
        <p className="tg-quiet">
          Only the shape of the body is kept: each text is replaced by its length and a hash.
        </p>
      ) : null}
      <BodyView text={row.body} label="request" />
      {row.capture === 'content' ? (
        isShown ? (
          <AsSent id={row.id} />
        ) : (
          <Button variant="default" onClick={() => setShown(true)}>
            Show what a channel would get today
          </Button>
        )
      ) : null}
    </Stack>
  )
}

function AsSent({ id }: { id: string }) {
  const made = useQuery({
    queryKey: ['log-translation', id],
    retry: false,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/requests/{id}/translation', { params: { path: { id } }, signal })),
  })
  if (made.error !== null) return <Problem error={made.error} doing="The translation" />
  if (made.data === undefined) return <p className="tg-quiet">Translating…</p>
  const { path, body, notes, to, channel, made_at } = made.data
  return (
    <Stack gap={8}>
      <p className="tg-quiet">
        {channel === null ? 'A channel' : `The channel ${channel}`} would get this at {path} ({to}), made anew{' '}
        <Moment at={made_at} />: what is in force today may differ from that time.
      </p>
      <Notes notes={notes} />
      <BodyView text={JSON.stringify(body)} label="translated request" />
    </Stack>
  )
}

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

function Notes({ notes }: { notes: readonly Schema<'TranslationNote'>[] }) {
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
