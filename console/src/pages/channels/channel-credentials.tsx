import { Button, Modal, PasswordInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { duration } from '../../format/numbers.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { ChangeForm } from '../../parts/change-form.tsx'
import { Section } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import classes from './channels.module.css'
import { useChannelEditing } from './channels-query.ts'

type Credential = Schema<'ChannelCredential'>
type Cooldown = Schema<'Health'>['channels'][number]['cooldowns'][number]

/**
 * Write-only: of each one the last four characters are shown, and whether it rests. In the order of their
 * use.
 */
export function ChannelCredentials({
  tagged,
  cooldowns,
  mayChange,
}: {
  tagged: Tagged<Schema<'Channel'>>
  cooldowns: readonly Cooldown[]
  mayChange: boolean
}) {
  const channel = tagged.data
  const [edits, setEdits] = useState<{ replaces: Credential | undefined } | undefined>(undefined)
  const [removes, setRemoves] = useState<Credential | undefined>(undefined)
  const removing = useChannelEditing(tagged, removes !== undefined)
  const queries = useQueryClient()
  const reload = () => queries.invalidateQueries({ queryKey: ['channels'] })
  return (
    <Section
      title="Credentials"
      actions={
        mayChange ? (
          <Button variant="default" onClick={() => setEdits({ replaces: undefined })}>
            Add a credential
          </Button>
        ) : undefined
      }
    >
      {channel.credentials.length === 0 ? (
        <span className="tg-quiet">It has none: its server wants none.</span>
      ) : null}
      <ul className={classes.list}>
        {channel.credentials.map((credential) => (
          <CredentialLine
            key={credential.id}
            credential={credential}
            cooldowns={cooldowns.filter((cooldown) => cooldown.credential === credential.id)}
          >
            {mayChange ? (
              <span className={classes.acts}>
                <Button variant="subtle" onClick={() => setEdits({ replaces: credential })}>
                  Replace
                </Button>
                <Button variant="subtle" color="red" onClick={() => setRemoves(credential)}>
                  Remove
                </Button>
              </span>
            ) : null}
          </CredentialLine>
        ))}
      </ul>
      <Modal
        opened={edits !== undefined}
        onClose={() => setEdits(undefined)}
        title={
          edits?.replaces === undefined ? 'Add a credential' : `Replace …${edits.replaces.last_four ?? ''}`
        }
      >
        <SecretForm
          of={tagged}
          replaces={edits?.replaces}
          onDone={async () => {
            // The next change needs the new ETag.
            await reload()
            setEdits(undefined)
          }}
        />
      </Modal>
      <AskFirst
        opened={removes !== undefined}
        onClose={() => setRemoves(undefined)}
        verb="Remove the credential"
        name={removes?.last_four ?? removes?.id ?? ''}
        editing={removing}
        act={async (header) => {
          if (removes === undefined) return
          await ask(
            api.DELETE('/admin/v1/channels/{id}/credentials/{credential}', {
              params: { path: { id: channel.id, credential: removes.id }, header },
            }),
          )
          done('The credential is removed')
          await reload()
        }}
      >
        Requests that run with it end as they are. New ones use the other {channel.credentials.length - 1}{' '}
        credentials of this channel.
      </AskFirst>
    </Section>
  )
}

/** How it ends, and why it rests. `children`: what can be done with it. */
function CredentialLine({
  credential: { id, last_four },
  cooldowns,
  children,
}: {
  credential: Credential
  cooldowns: readonly Cooldown[]
  children: ReactNode
}) {
  return (
    <li>
      {last_four === null ? (
        <span className="tg-quiet">too short to show its end</span>
      ) : (
        <span className="tg-mono">…{last_four}</span>
      )}
      <span className="tg-quiet">id {id}</span>
      <span className={classes.grows}>
        {cooldowns.length === 0 ? (
          <State tone="good">in use</State>
        ) : (
          cooldowns.map(({ why, model, left_ms }) => (
            <State key={`${why} ${model}`} tone={why === 'limited' ? 'warning' : 'bad'}>
              {why}
              {model === null ? '' : ` for ${model}`}, <Rest ms={left_ms} />
            </State>
          ))
        )}
      </span>
      {children}
    </li>
  )
}

/** Counts down from what the gateway said last. */
function Rest({ ms }: { ms: number }) {
  const [left, setLeft] = useState(ms)
  useEffect(() => {
    const until = Date.now() + ms
    setLeft(ms)
    const timer = setInterval(() => setLeft(Math.max(0, until - Date.now())), 1_000)
    return () => clearInterval(timer)
  }, [ms])
  return <>{left === 0 ? 'is tried again' : `rests ${duration(Math.ceil(left / 1_000) * 1_000)} more`}</>
}

function SecretForm({
  of,
  replaces,
  onDone,
}: {
  of: Tagged<Schema<'Channel'>>
  replaces: Credential | undefined
  onDone(): Promise<void>
}) {
  const [secret, setSecret] = useState('')
  const editing = useChannelEditing(of, true)
  const { id } = of.data
  const save = useMutation({
    mutationFn: () =>
      editing.change((header) =>
        replaces === undefined
          ? ask(
              api.POST('/admin/v1/channels/{id}/credentials', {
                params: { path: { id }, header },
                body: { secret },
              }),
            )
          : ask(
              api.PUT('/admin/v1/channels/{id}/credentials/{credential}', {
                params: { path: { id, credential: replaces.id }, header },
                body: { secret },
              }),
            ),
      ),
    onSuccess: async () => {
      done('The credential is stored. Test the channel to see that it works.')
      await onDone()
    },
  })
  return (
    <ChangeForm save={save} send={save.mutate} editing={editing} verb="Store the credential">
      <PasswordInput
        label="Secret"
        description="It is stored encrypted, and never shown again."
        autoComplete="off"
        data-autofocus
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
      />
    </ChangeForm>
  )
}
