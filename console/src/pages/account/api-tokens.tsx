import { Button, Modal, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useSession } from '../../api/session.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Code } from '../../parts/code.tsx'
import type { Field } from '../../parts/fields.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { ListRows } from '../../parts/rows.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { gatewayUrl } from '../../site.ts'

/** Tokens by which programs call the admin API in the person's name. */
export function ApiTokens() {
  const session = useSession()
  const queryClient = useQueryClient()
  const [isMaking, setMaking] = useState(false)
  const [chosen, setChosen] = useState<Schema<'ApiToken'>>()
  const queryKey = ['account', 'tokens', session.id]
  const list = useList<Schema<'ApiToken'>>({
    queryKey,
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/api-tokens', {
          params: {
            query: {
              limit: 50,
              ...(session.kind === 'user' && session.id !== null ? { user_id: session.id } : {}),
              ...page,
            },
          },
          signal,
        }),
      ),
  })
  const readAgain = () => queryClient.invalidateQueries({ queryKey })
  return (
    <Section
      title="Your API tokens"
      actions={<Button onClick={() => setMaking(true)}>Make API token</Button>}
    >
      <ListRows
        label="Your API tokens"
        things="tokens"
        list={list}
        idOf={({ id }) => id}
        none="You have no API token. A program sends one to call the admin API in your name, with the rights that you give it."
        columns={[
          { head: 'Name', cell: ({ name }) => name },
          { head: 'Begins', cell: ({ hint }) => <span className="tg-mono">{hint}</span> },
          { head: 'May', cell: ({ scopes: may }) => may.join(', ') },
          { head: 'Last use', keeps: true, cell: ({ used_at }) => <Moment at={used_at} none="never" /> },
          { head: 'Expires', keeps: true, cell: ({ expires_at }) => <Moment at={expires_at} none="never" /> },
          {
            head: 'Actions',
            align: 'right',
            cell: (token) =>
              token.revoked_at === null ? (
                <Button variant="subtle" color="red" onClick={() => setChosen(token)}>
                  Revoke
                </Button>
              ) : (
                <State tone="bad">revoked</State>
              ),
          },
        ]}
      />
      <MakeToken opened={isMaking} onClose={() => setMaking(false)} onMade={readAgain} />
      <AskFirst
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        verb="Revoke API token"
        isBad
        act={async () => {
          if (chosen === undefined) return
          await ask(api.DELETE('/admin/v1/api-tokens/{id}', { params: { path: { id: chosen.id } } }))
          await readAgain()
          done(`Token ${chosen.name} is revoked`)
        }}
      >
        Programs that send the token {chosen?.name} are refused at once, for ever.
      </AskFirst>
    </Section>
  )
}

/** Makes a token, and shows it once. */
function MakeToken({
  opened,
  onClose,
  onMade,
}: {
  opened: boolean
  onClose(): void
  onMade(): Promise<void>
}) {
  const { may } = useSession()
  const [made, setMade] = useState<Schema<'MadeApiToken'>>()
  const scopes = Object.entries(may).flatMap(([area, actions]) =>
    (actions ?? []).map((action) => `${area}:${action}`),
  )
  const fields: Field[] = [
    { path: 'name', label: 'Name', kind: 'text', required: true, placeholder: 'terraform' },
    { path: 'expires_at', label: 'Expires', kind: 'moment', about: 'On your clock; empty: never' },
    {
      path: 'scopes',
      label: 'Permissions',
      kind: 'tags',
      required: false,
      suggestions: scopes,
      about: '“keys:write” includes “keys:read”. It never may more than you.',
    },
  ]
  const close = () => {
    onClose()
    setMade(undefined)
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="lg"
      title={made === undefined ? 'Make an API token' : `The token ${made.name}`}
      closeOnClickOutside={false}
      closeOnEscape={made === undefined}
    >
      {made === undefined ? (
        <SettingsForm
          groups={[{ title: 'API token', fields }]}
          names={['name', 'scopes', 'role', 'tenant_id', 'expires_at']}
          verb="Make API token"
          onCancel={close}
          save={async (body) => {
            setMade(await ask(api.POST('/admin/v1/api-tokens', { body: body as Schema<'ApiTokenRequest'> })))
            await onMade()
          }}
        />
      ) : (
        <Stack gap={12}>
          <Notice tone="warning">
            Copy the token now. It is not shown again: the gateway stores only a hash of it.
          </Notice>
          <Code text={made.token} what="the token" />
          <Code
            text={`curl ${gatewayUrl}/admin/v1/session -H 'authorization: Bearer ${made.token}'`}
            what="the command"
          />
          <Button onClick={close}>I have copied the token</Button>
        </Stack>
      )}
    </Modal>
  )
}
