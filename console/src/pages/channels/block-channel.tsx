import { Button, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { done } from '../../parts/toast.tsx'
import { BlockReason } from '../keys/key-acts.tsx'
import { useChannelEditing } from './channels-query.ts'

/**
 * Takes any channel out of use, also one of gateway.yaml, or brings it back. `loses`: what its models lose,
 * in a sentence.
 */
export function BlockChannel({ tagged, loses }: { tagged: Tagged<Schema<'Channel'>>; loses: string }) {
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
              lifts the block. Running requests can finish. <strong>{loses}</strong>
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
