import { SegmentedControl, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { BodyCompare } from './body-compare.tsx'
import { BodyView } from './body-view.tsx'
import { Notes } from './log-tabs.tsx'

const views = [
  { value: 'client', label: 'From the client' },
  { value: 'channel', label: 'To the channel' },
  { value: 'both', label: 'Compared' },
] as const

type View = (typeof views)[number]['value']

/**
 * The request as the client sent it, redacted, what a channel would get for it today, and both side by side.
 */
export function RequestTab({ row }: { row: Schema<'LogDetail'> }) {
  const [view, setView] = useState<View>('client')
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
      {row.capture === 'content' ? (
        <SegmentedControl
          size="xs"
          aria-label="Which form of the request"
          value={view}
          onChange={(value) => setView(value as View)}
          data={views.map((each) => ({ ...each }))}
        />
      ) : null}
      {view === 'client' ? (
        <BodyView text={row.body} label="request" />
      ) : (
        <Translated id={row.id} sent={row.body} isCompared={view === 'both'} />
      )}
    </Stack>
  )
}

function Translated({ id, sent, isCompared }: { id: string; sent: string; isCompared: boolean }) {
  const made = useQuery({
    queryKey: ['log-translation', id],
    retry: false,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/requests/{id}/translation', { params: { path: { id } }, signal })),
  })
  if (made.error !== null) return <Problem error={made.error} doing="The translation" />
  if (made.data === undefined) return <p className="tg-quiet">Translating…</p>
  const { path, body, notes, to, channel, made_at, is_body_whole } = made.data
  return (
    <Stack gap={8}>
      <p className="tg-quiet">
        {channel === null ? 'A channel' : `The channel ${channel}`} would get this at {path} ({to}), made anew{' '}
        <Moment at={made_at} />: what is in force today may differ from that time.
        {is_body_whole ? '' : ' The kept body has placeholders where secrets or long texts were.'}
      </p>
      {isCompared ? (
        <BodyCompare sent={sent} got={body} notes={notes} />
      ) : (
        <>
          <Notes notes={notes} />
          <BodyView text={JSON.stringify(body)} label="translated request" />
        </>
      )}
    </Stack>
  )
}
