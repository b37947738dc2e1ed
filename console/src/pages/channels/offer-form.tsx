import { Autocomplete, Button, Group, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { modelNamesQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { useChannelEditing } from './channels-query.ts'
import { makeModels } from './make-models.ts'
import { ListedModels, Outcome } from './model-choice.tsx'

/**
 * Has a channel offer one more model, chosen from the list of its upstream or typed, or gives an offered one
 * another name there.
 */
export function OfferForm({
  of,
  offer,
  onDone,
}: {
  of: Tagged<Schema<'Channel'>>
  /** The one that is changed; absent: a new one. */
  offer?: Schema<'Offer'> | undefined
  onDone(): void
}) {
  const { id } = of.data
  const editing = useChannelEditing(of, true)
  const queries = useQueryClient()
  const [model, setModel] = useState(offer?.model ?? '')
  const [upstream, setUpstream] = useState(offer?.upstream_model ?? '')
  const names = useQuery(modelNamesQuery)
  const read = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/channels/{id}/upstream-models', { params: { path: { id } } })),
  })
  const name = model.trim()
  const there = upstream.trim() === '' ? name : upstream.trim()
  const save = useMutation({
    mutationFn: async () => {
      if (offer === undefined) await makeModels([name], () => {})
      await editing.change((header) =>
        ask(
          api.PUT('/admin/v1/channels/{id}/offers/{model}', {
            params: { path: { id, model: name }, header },
            body: { ...ownTraits(of.data, name), upstream: there },
          }),
        ),
      )
    },
    onSuccess: async () => {
      done(`The channel offers ${name}`)
      await queries.invalidateQueries({ queryKey: ['channels'] })
      await queries.invalidateQueries({ queryKey: ['models'] })
      onDone()
    },
  })
  const choose = (chosen: string) => {
    // What its user has called it stays.
    if (model === '' || model === upstream) setModel(chosen)
    setUpstream(chosen)
  }
  return (
    <ChangeForm
      save={save}
      send={save.mutate}
      editing={editing}
      verb={offer === undefined ? 'Add the model' : 'Save the model'}
    >
      <Group gap={8}>
        <Button variant="default" loading={read.isPending} onClick={() => read.mutate()}>
          Read its list of models
        </Button>
        <span className="tg-quiet">Asks the upstream with the channel's first key.</span>
      </Group>
      {read.error === null ? null : <Problem error={read.error} doing="The list of models" />}
      {read.data === undefined ? null : <Outcome of={read.data} />}
      {read.data === undefined || read.data.models.length === 0 ? null : (
        <ListedModels
          takesOne
          listed={read.data.models}
          chosen={upstream === '' ? [] : [upstream]}
          onChoose={(chosen) => choose(chosen.at(-1) ?? '')}
        />
      )}
      {offer === undefined ? (
        <Autocomplete
          label="Model"
          description="The name that clients use. A new name becomes a model without a price: set one on its page."
          required
          data-autofocus
          data={(names.data ?? []).filter((id) => id !== '*')}
          value={model}
          onChange={setModel}
        />
      ) : null}
      <TextInput
        label="Its name at the upstream"
        description="Empty: the same name"
        {...(offer === undefined ? {} : { 'data-autofocus': true })}
        value={upstream}
        onChange={(event) => setUpstream(event.currentTarget.value)}
      />
    </ChangeForm>
  )
}

/** The traits that the offer itself states, which stay. */
function ownTraits({ models }: Schema<'Channel'>, model: string): { traits?: Record<string, unknown> } {
  const own: unknown = typeof models === 'string' ? undefined : models[model]
  return typeof own === 'object' && own !== null && 'traits' in own ? { traits: Object(own.traits) } : {}
}
