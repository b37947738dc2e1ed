import { Button, Group, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { useChannelEditing } from './channels-query.ts'
import { makeModels } from './make-models.ts'
import { ListedModels, Outcome } from './model-choice.tsx'

/** Has a channel offer one more model, chosen from the list of its upstream or typed. */
export function OfferForm({ of, onDone }: { of: Tagged<Schema<'Channel'>>; onDone(): void }) {
  const { id } = of.data
  const editing = useChannelEditing(of, true)
  const queries = useQueryClient()
  const [model, setModel] = useState('')
  const [upstream, setUpstream] = useState('')
  const read = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/channels/{id}/upstream-models', { params: { path: { id } } })),
  })
  const name = model.trim()
  const there = upstream.trim() === '' ? name : upstream.trim()
  const save = useMutation({
    mutationFn: async () => {
      await makeModels([name], () => {})
      await editing.change((header) =>
        ask(
          api.PUT('/admin/v1/channels/{id}/offers/{model}', {
            params: { path: { id, model: name }, header },
            body: { upstream: there },
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
    <ChangeForm save={save} send={save.mutate} editing={editing} verb="Offer the model">
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
      <TextInput
        label="Model"
        description="The name that clients use. A new name becomes a model without a price: set one on its page."
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
    </ChangeForm>
  )
}
