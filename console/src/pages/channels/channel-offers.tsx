import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done, fails } from '../../parts/toast.tsx'
import classes from './channels.module.css'

/** The models of a channel, and what each is called there. */
export function ChannelOffers({
  channel,
  offers,
  error,
  mayChange,
}: {
  channel: Schema<'Channel'>
  offers: readonly Schema<'Offer'>[] | undefined
  error: unknown
  mayChange: boolean
}) {
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const remove = useMutation({
    mutationFn: (model: string) =>
      ask(
        api.DELETE('/admin/v1/channels/{id}/offers/{model}', { params: { path: { id: channel.id, model } } }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['channels'] }),
    onError: (cause) => fails('Taking the model off', cause),
  })
  return (
    <Section
      title="Models"
      actions={
        mayChange ? (
          <Button variant="default" onClick={() => setAdding(true)}>
            Offer a model
          </Button>
        ) : undefined
      }
    >
      {error === null || error === undefined ? null : <Problem error={error} />}
      {offers?.length === 0 ? (
        <span className="tg-quiet">It offers no model: no request comes here.</span>
      ) : null}
      <ul className={classes.list}>
        {offers?.map(({ model, upstream_model, state }) => (
          <li key={model}>
            {model === '*' ? (
              <span>all models that the upstream lists</span>
            ) : (
              <Link to="/console/models/$id" params={{ id: model }}>
                {model}
              </Link>
            )}
            <span className={classes.grows}>
              <span className="tg-quiet">
                {upstream_model === '*' || upstream_model === model
                  ? 'under the same name'
                  : `there: ${upstream_model}`}
                {state === 'enabled' ? '' : `, ${state}`}
              </span>
            </span>
            {mayChange ? (
              <Button
                variant="subtle"
                color="red"
                loading={remove.isPending}
                onClick={() => remove.mutate(model)}
              >
                Take it off
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      <Modal opened={isAdding} onClose={() => setAdding(false)} title="Offer a model">
        <OfferForm id={channel.id} onDone={() => setAdding(false)} />
      </Modal>
    </Section>
  )
}

function OfferForm({ id, onDone }: { id: string; onDone(): void }) {
  const queries = useQueryClient()
  const [model, setModel] = useState('')
  const [upstream, setUpstream] = useState('')
  const save = useMutation({
    mutationFn: () =>
      ask(
        api.PUT('/admin/v1/channels/{id}/offers/{model}', {
          params: { path: { id, model: model.trim() } },
          body: { upstream: upstream.trim() === '' ? model.trim() : upstream.trim() },
        }),
      ),
    onSuccess: async () => {
      done(`The channel offers ${model}`)
      await queries.invalidateQueries({ queryKey: ['channels'] })
      onDone()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap={12}>
        <TextInput
          label="Model"
          description="The name that clients use"
          required
          data-autofocus
          value={model}
          onChange={(event) => setModel(event.currentTarget.value)}
        />
        <TextInput
          label="Its name at the upstream"
          description="Empty: the same name"
          value={upstream}
          onChange={(event) => setUpstream(event.currentTarget.value)}
        />
        {save.error === null ? null : <Problem error={save.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Offer the model
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
