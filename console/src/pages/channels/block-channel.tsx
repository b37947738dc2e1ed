import { Button, Stack } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import type { Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { done } from '../../parts/toast.tsx'
import { BlockReason } from '../keys/key-acts.tsx'
import { useChannelEditing } from './channels-query.ts'

/** Takes any channel out of use, also one of gateway.yaml, or brings it back. */
export function BlockChannel({ tagged }: { tagged: Tagged<Schema<'Channel'>> }) {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const queries = useQueryClient()
  const editing = useChannelEditing(tagged, isOpen)
  const { id, name, blocked } = editing.base
  const verb = blocked === null ? 'Block channel' : 'Unblock channel'
  return (
    <>
      <Button
        variant={blocked === null ? 'outline' : 'default'}
        {...(blocked === null && { color: 'var(--tg-bad)' })}
        onClick={() => setOpen(true)}
      >
        {verb}
      </Button>
      <AskFirst
        opened={isOpen}
        onClose={() => setOpen(false)}
        verb={verb}
        isBad={blocked === null}
        isReady={blocked !== null || reason.trim() !== ''}
        editing={editing}
        act={async (header) => {
          const params = { path: { id }, header }
          if (blocked === null)
            await ask(api.POST('/admin/v1/channels/{id}/block', { params, body: { reason } }))
          else await ask(api.POST('/admin/v1/channels/{id}/unblock', { params }))
          setReason('')
          for (const key of ['channels', 'models', 'health'])
            await queries.invalidateQueries({ queryKey: [key] })
          done(`Channel ${name} is ${blocked === null ? 'blocked' : 'unblocked'}`)
        }}
      >
        {blocked === null ? (
          <Stack gap={12}>
            <div>
              The channel gets no more requests within a second, until somebody unblocks it here. No file
              lifts the block. Running requests can finish. <LeftAlone id={id} name={name} />
            </div>
            <BlockReason value={reason} onChange={setReason} />
          </Stack>
        ) : (
          <>
            The channel gets requests again, within a second. Test it first: a test works while it is blocked.
          </>
        )}
      </AskFirst>
    </>
  )
}

const shownMost = 10

/** The models that no other channel serves. Read when the dialog opens. */
function LeftAlone({ id, name }: { id: string; name: string }) {
  const models = useQuery({
    queryKey: ['models', 'of channel', name],
    staleTime: 0,
    queryFn: ({ signal }) =>
      readAll(
        (page) =>
          ask(
            api.GET('/admin/v1/models', {
              params: { query: { channel: name, state: 'enabled', limit: 200, ...page } },
              signal,
            }),
          ),
        50,
      ),
  })
  if (models.isError) return <span>The models that it serves cannot be read now.</span>
  if (models.data === undefined) return <span>Reading the models that it serves…</span>
  const alone = models.data.filter(({ channels }) => !channels.some((one) => one.id !== id && isUsed(one)))
  if (alone.length === 0) return <span>Each of its models has another channel.</span>
  return (
    <>
      <strong>
        {alone.length === 1 ? 'This model has' : `These ${alone.length} models have`} no other channel, and
        requests for {alone.length === 1 ? 'it' : 'them'} are refused unless a fallback answers:
      </strong>
      <ul>
        {alone.slice(0, shownMost).map((model) => (
          <li key={model.id}>{model.id === '*' ? '* (any other name)' : model.id}</li>
        ))}
        {alone.length > shownMost ? <li>and {alone.length - shownMost} more</li> : null}
      </ul>
    </>
  )
}

const isUsed = ({ state, blocked }: { state: string; blocked: boolean }) => state === 'enabled' && !blocked
