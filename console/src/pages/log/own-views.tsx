import { Button, Checkbox, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditing } from '../../api/editing.ts'
import { useSession } from '../../api/session.ts'
import { askTagged, type Tagged } from '../../api/tagged.ts'
import type { Texts } from '../../console-search.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { ChangeForm } from '../../parts/change-form.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { viewOf } from './view-of.ts'

type View = Schema<'SavedView'>

/** One's own views, and shared ones for an owner: each can be changed and deleted. */
export function OwnViews({
  views,
  search,
  onDone,
}: {
  views: readonly View[]
  search: Texts
  onDone(): void
}) {
  const [id, setId] = useState<string>()
  const view = useQuery({
    queryKey: ['views', 'one', id],
    enabled: id !== undefined,
    queryFn: () => readView(id ?? ''),
    // A dialog begins with the current state.
    staleTime: 0,
    gcTime: 0,
  })
  if (id === undefined)
    return (
      <Stack gap={4}>
        {views.map(({ id, name, own, user }) => (
          <Button key={id} variant="default" justify="flex-start" onClick={() => setId(id)}>
            {own ? name : `${name}, of ${user}`}
          </Button>
        ))}
      </Stack>
    )
  if (view.error !== null) return <Problem error={view.error} onAgain={() => void view.refetch()} />
  if (view.data === undefined) return <WaitingRows />
  return <ChangeView key={id} of={view.data} search={search} onDone={onDone} />
}

/** Who sees a view that the reader shares, in words. */
export function useSharing(): string {
  return useSession().role === 'member' ? 'the others of your tenant' : 'all operators'
}

function readView(id: string): Promise<Tagged<View>> {
  return askTagged(api.GET('/admin/v1/views/{id}', { params: { path: { id } } }))
}

function ChangeView({ of, search, onDone }: { of: Tagged<View>; search: Texts; onDone(): void }) {
  const queries = useQueryClient()
  const others = useSharing()
  const editing = useEditing(of, () => readView(of.data.id))
  const { id, name: stands } = editing.base
  const [name, setName] = useState(of.data.name)
  const [isShared, setShared] = useState(of.data.shared)
  const [takesFilters, setTakesFilters] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const wanted = {
    ...(name === editing.base.name ? {} : { name }),
    ...(isShared === editing.base.shared ? {} : { shared: isShared }),
    ...(takesFilters ? { query: viewOf(search) } : {}),
  }
  const reread = () => queries.invalidateQueries({ queryKey: ['views', 'log'] })
  const save = useMutation({
    mutationFn: () =>
      editing.change((header) =>
        ask(api.PATCH('/admin/v1/views/{id}', { params: { path: { id }, header }, body: wanted })),
      ),
    onSuccess: async () => {
      await reread()
      done(`The view ${name} is saved`)
      onDone()
    },
  })
  const take = (keeps: boolean) => {
    const { base, now } = editing
    if (now === undefined) return
    if (!keeps || name === base.name) setName(now.name)
    if (!keeps || isShared === base.shared) setShared(now.shared)
    if (!keeps) setTakesFilters(false)
  }
  return (
    <>
      <ChangeForm
        save={save}
        send={save.mutate}
        editing={editing}
        verb="Save the view"
        yours={wanted}
        onTake={take}
        beside={
          <Button variant="default" color="red" onClick={() => setDeleting(true)}>
            Delete the view
          </Button>
        }
      >
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox
          label={`Share it with ${others}`}
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        <Checkbox
          label="Give it the filters, the time and the order that the page has now"
          checked={takesFilters}
          onChange={(event) => setTakesFilters(event.currentTarget.checked)}
        />
      </ChangeForm>
      <AskFirst
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        verb="Delete the view"
        isBad
        editing={editing}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/views/{id}', { params: { path: { id }, header } }))
          await reread()
          done(`The view ${stands} is deleted`)
          onDone()
        }}
      >
        {of.data.shared ? `It is gone for ${others} too.` : `${stands} goes for good.`} No row of the log is
        touched.
      </AskFirst>
    </>
  )
}
