import { Button, CloseButton, Group, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ListedKey } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import type { Selection } from '../../parts/grid-props.ts'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import classes from '../access/access.module.css'
import { counted } from '../access/access-words.ts'
import { BlockReason } from './key-acts.tsx'
import { type ActVerb, whyNot } from './why-not.ts'

interface Act {
  verb: ActVerb
  /** "3 keys are blocked". */
  done: string
  /** What happens to the keys. */
  says: string
  isBad?: boolean
  /** It cannot be undone. */
  isFinal?: boolean
  run(id: string, reason: string): Promise<unknown>
}

const path = (id: string) => ({ params: { path: { id } } })

const acts: readonly Act[] = [
  {
    verb: 'Block',
    done: 'blocked',
    says: 'The gateway refuses these keys and their sub-keys within a second, until somebody unblocks them here. Running requests can finish.',
    isBad: true,
    run: (id, reason) => ask(api.POST('/admin/v1/keys/{id}/block', { ...path(id), body: { reason } })),
  },
  {
    verb: 'Unblock',
    done: 'unblocked',
    says: 'The gateway takes requests with these keys again, within a second.',
    run: (id) => ask(api.POST('/admin/v1/keys/{id}/unblock', path(id))),
  },
  {
    verb: 'Disable',
    done: 'disabled',
    says: 'The gateway refuses these keys within a second, until somebody enables them again.',
    isBad: true,
    run: (id) => ask(api.PATCH('/admin/v1/keys/{id}', { ...path(id), body: { disabled: true } })),
  },
  {
    verb: 'Enable',
    done: 'enabled',
    says: 'The gateway takes requests with these keys again, within a second.',
    run: (id) => ask(api.PATCH('/admin/v1/keys/{id}', { ...path(id), body: { disabled: false } })),
  },
  {
    verb: 'Revoke',
    done: 'revoked',
    says: 'The gateway refuses these keys and their sub-keys for ever. It cannot be undone.',
    isFinal: true,
    run: (id) => ask(api.POST('/admin/v1/keys/{id}/revoke', path(id))),
  },
]

/** What an act has left undone. */
interface Failures {
  act: Act
  tried: number
  rows: readonly { name: string; why: string }[]
}

/** What can be done with several keys, one request for each. What is not done stays selected. */
export function SeveralKeys({ selection, isMember }: { selection: Selection<ListedKey>; isMember: boolean }) {
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<Act>()
  const [failures, setFailures] = useState<Failures>()
  const { rows } = selection
  const run = async (act: Act, chosen: readonly ListedKey[], reason: string) => {
    setFailures(undefined)
    const changed = new Set<string>()
    const failed: { row: ListedKey; why: string }[] = []
    for (const row of chosen) {
      try {
        await act.run(row.id, reason)
        changed.add(row.id)
      } catch (error) {
        failed.push({ row, why: error instanceof Error ? error.message : String(error) })
      }
    }
    await queryClient.invalidateQueries({ queryKey: ['keys'] })
    selection.keep(rows.filter(({ id }) => !changed.has(id)))
    if (failed.length === 0) done(`${keys(chosen.length)} ${chosen.length === 1 ? 'is' : 'are'} ${act.done}`)
    else
      setFailures({
        act,
        tried: chosen.length,
        rows: failed.map(({ row, why }) => ({ name: shown(row), why })),
      })
  }
  return (
    <>
      {failures === undefined ? null : <Failed of={failures} onClose={() => setFailures(undefined)} />}
      {rows.length === 0 ? null : (
        <Group gap={8} role="toolbar" aria-label="Selected keys">
          <span aria-live="polite">{keys(rows.length)} selected</span>
          {acts.map((act) => (
            <Button key={act.verb} variant="default" size="xs" onClick={() => setAsked(act)}>
              {act.verb}
            </Button>
          ))}
          <Button variant="subtle" size="xs" onClick={() => selection.keep([])}>
            Clear selection
          </Button>
        </Group>
      )}
      {asked === undefined ? null : (
        <AskSeveral
          key={asked.verb}
          act={asked}
          rows={rows}
          onClose={() => setAsked(undefined)}
          isMember={isMember}
          run={(chosen, reason) => run(asked, chosen, reason)}
        />
      )}
    </>
  )
}

function AskSeveral({
  act,
  rows: now,
  isMember,
  onClose,
  run,
}: {
  act: Act
  rows: readonly ListedKey[]
  isMember: boolean
  onClose(): void
  run(chosen: readonly ListedKey[], reason: string): Promise<void>
}) {
  // Those that are done leave the selection before the dialog closes.
  const [all] = useState(() => now.map((row) => ({ row, why: whyNot(act.verb, row, isMember) })))
  const rows = all.filter(({ why }) => why === undefined).map(({ row }) => row)
  const frozen = all.filter(({ why }) => why !== undefined)
  const [reason, setReason] = useState('')
  const needsReason = act.verb === 'Block'
  return (
    <AskFirst
      opened
      onClose={onClose}
      verb={rows.length === 0 ? `${act.verb} keys` : `${act.verb} ${keys(rows.length)}`}
      isBad={act.isBad === true || act.isFinal === true}
      isReady={rows.length > 0 && (!needsReason || reason.trim() !== '')}
      {...(act.isFinal === true && rows.length > 0 ? { name: keys(rows.length) } : {})}
      act={() => run(rows, reason)}
    >
      <Stack gap={12}>
        {rows.length === 0 ? null : (
          <>
            <div>{act.says}</div>
            <ul className={classes.several} aria-label="Keys">
              {rows.map((row) => (
                <li key={row.id}>{shown(row)}</li>
              ))}
            </ul>
          </>
        )}
        {frozen.length === 0 ? null : (
          <div>
            {rows.length === 0 ? 'None of these keys can be' : 'These cannot be'} {act.done}:
            <ul className={classes.several}>
              {frozen.map(({ row, why }) => (
                <li key={row.id}>
                  <strong>{shown(row)}</strong>: {why}
                </li>
              ))}
            </ul>
          </div>
        )}
        {needsReason && rows.length > 0 ? <BlockReason value={reason} onChange={setReason} /> : null}
      </Stack>
    </AskFirst>
  )
}

function Failed({ of: { act, tried, rows }, onClose }: { of: Failures; onClose(): void }) {
  return (
    <Notice tone="bad" action={<CloseButton aria-label="Close" onClick={onClose} />}>
      {tried - rows.length} of {keys(tried)} {tried - rows.length === 1 ? 'is' : 'are'} {act.done}. Not these:
      <ul className={classes.several}>
        {rows.map(({ name, why }) => (
          <li key={name}>
            <strong>{name}</strong>: {why}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

const keys = (count: number) => counted(count, 'key')

const shown = ({ tenant, name }: ListedKey) => `${tenant}/${name}`
