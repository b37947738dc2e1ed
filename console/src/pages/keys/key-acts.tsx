import { Select, Stack, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Key, keyQuery, type MadeKey, usesQuery } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { newId } from '../../api/new-id.ts'
import type { Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { done } from '../../parts/toast.tsx'
import { callersOf, counted } from '../access/access-words.ts'

interface Act {
  of: Tagged<Key>
  opened: boolean
  onClose(): void
}

const graces = [
  { value: '0', label: 'At once: the secret has leaked' },
  { value: '3600', label: 'In an hour' },
  { value: '86400', label: 'In a day' },
  { value: '604800', label: 'In 7 days' },
  { value: '2592000', label: 'In 30 days' },
]

/**
 * Gives the key a new secret. The former one works on for a while, so that programs can be changed one by
 * one.
 */
export function RotateKey({ of: newest, opened, onClose, onMade }: Act & { onMade(made: MadeKey): void }) {
  const editing = useEditingOf(keyQuery(newest.data.id), newest, opened)
  const of = editing.base
  const [grace, setGrace] = useState('86400')
  const [id, setId] = useState(newId)
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb="Rotate secret"
      editing={editing}
      act={async (header) => {
        try {
          onMade(
            await ask(
              api.POST('/admin/v1/keys/{id}/rotate', {
                params: { path: { id: of.id }, header: { 'idempotency-key': `${id}-${grace}`, ...header } },
                body: { grace_seconds: Number(grace) },
              }),
            ),
          )
        } finally {
          setId(newId())
        }
      }}
    >
      <Stack gap={12}>
        <div>
          <strong>{of.name}</strong> gets a new secret, which is shown once. <UsedBy of={of} />
        </div>
        <Select
          label="The former secret ends"
          data={graces}
          value={grace}
          onChange={(value) => setGrace(value ?? '0')}
        />
      </Stack>
    </AskFirst>
  )
}

export function DisableKey({ of: newest, opened, onClose, onDone }: Act & { onDone(): Promise<void> }) {
  const editing = useEditingOf(keyQuery(newest.data.id), newest, opened)
  const of = editing.base
  const verb = of.disabled ? 'Enable key' : 'Disable key'
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb={verb}
      isBad={!of.disabled}
      editing={editing}
      act={async (header) => {
        await ask(
          api.PATCH('/admin/v1/keys/{id}', {
            params: { path: { id: of.id }, header },
            body: { disabled: !of.disabled },
          }),
        )
        await onDone()
        done(`Key ${of.name} is ${of.disabled ? 'enabled' : 'disabled'}`)
      }}
    >
      {of.disabled ? (
        <>The gateway takes requests with this key again, within a second.</>
      ) : (
        <>
          The gateway refuses all requests with this key, within a second, until somebody enables it again.{' '}
          <UsedBy of={of} />
        </>
      )}
    </AskFirst>
  )
}

/** Stops a key at once, also one of gateway.yaml, until somebody unblocks it. */
export function BlockKey({ of: newest, opened, onClose, onDone }: Act & { onDone(): Promise<void> }) {
  const editing = useEditingOf(keyQuery(newest.data.id), newest, opened)
  const of = editing.base
  const [reason, setReason] = useState('')
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb="Block key"
      isBad
      isReady={reason.trim() !== ''}
      editing={editing}
      act={async (header) => {
        await ask(
          api.POST('/admin/v1/keys/{id}/block', {
            params: { path: { id: of.id }, header },
            body: { reason },
          }),
        )
        setReason('')
        await onDone()
        done(`Key ${of.name} is blocked`)
      }}
    >
      <Stack gap={12}>
        <div>
          The gateway refuses this key and its sub-keys within a second, until somebody unblocks it here. No
          file lifts the block. Running requests can finish. <UsedBy of={of} />
        </div>
        <BlockReason value={reason} onChange={setReason} />
      </Stack>
    </AskFirst>
  )
}

export function BlockReason({ value, onChange }: { value: string; onChange(reason: string): void }) {
  return (
    <Textarea
      label="Why, for your colleagues"
      description="Needed: it is shown with the block, and in the audit log."
      required
      value={value}
      maxLength={1_000}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

export function UnblockKey({ of: newest, opened, onClose, onDone }: Act & { onDone(): Promise<void> }) {
  const editing = useEditingOf(keyQuery(newest.data.id), newest, opened)
  const of = editing.base
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb="Unblock key"
      editing={editing}
      act={async (header) => {
        await ask(api.POST('/admin/v1/keys/{id}/unblock', { params: { path: { id: of.id }, header } }))
        await onDone()
        done(`Key ${of.name} is unblocked`)
      }}
    >
      The gateway takes requests with this key and its sub-keys again, within a second. If its secret has
      leaked, give it a new one first.
    </AskFirst>
  )
}

export function RevokeKey({ of: newest, opened, onClose, onDone }: Act & { onDone(): Promise<void> }) {
  const editing = useEditingOf(keyQuery(newest.data.id), newest, opened)
  const of = editing.base
  return (
    <AskFirst
      opened={opened}
      onClose={onClose}
      verb="Revoke key"
      name={of.name}
      editing={editing}
      act={async (header) => {
        await ask(api.POST('/admin/v1/keys/{id}/revoke', { params: { path: { id: of.id }, header } }))
        await onDone()
        done(`Key ${of.name} is revoked`)
      }}
    >
      The gateway refuses this key and its sub-keys for ever. It cannot be undone. <UsedBy of={of} />
    </AskFirst>
  )
}

const most = 200

/** What stops when the key does. Read when a dialog opens. */
function UsedBy({ of }: { of: Key }) {
  const uses = useQuery({ ...usesQuery(of.id, 1, most), staleTime: 0 })
  if (uses.isError) return <span>What used it in the last hour cannot be read now.</span>
  if (uses.data === undefined) return <span>Reading what used it in the last hour…</span>
  const rows = uses.data.data
  if (rows.length === 0) return <span>Nothing used it in the last hour.</span>
  const callers = callersOf(rows)
  return (
    <>
      <strong>
        {rows.length >= most ? `${most} requests or more` : counted(rows.length, 'request')} of{' '}
        {counted(callers.length, 'program')} used it in the last hour:
      </strong>
      <ul>
        {callers.slice(0, 5).map(({ address, program, requests }) => (
          <li key={`${address} ${program}`}>
            {program ?? 'an unnamed program'} at {address ?? 'an unknown address'}:{' '}
            {counted(requests, 'request')}
          </li>
        ))}
        {callers.length > 5 ? <li>and {callers.length - 5} more</li> : null}
      </ul>
    </>
  )
}
