import { ActionIcon, Button, Checkbox, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { BookmarkIcon, TrashIcon } from '@primer/octicons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useMay, useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Problem } from '../../parts/problem.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { filtersOf, parameterOf } from './log-filters.ts'

/** Filters under a name: one's own, and those that others share. A view is nothing but an address. */
export function ViewsMenu({ search, onOpen }: { search: Texts; onOpen(search: Texts): void }) {
  const may = useMay()
  const session = useSession()
  const queries = useQueryClient()
  const [isSaving, setSaving] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const views = useQuery({
    queryKey: ['views', 'log'],
    enabled: isOpen,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/views', { params: { query: { page: 'log', limit: 200 } }, signal })),
  })
  const remove = useMutation({
    mutationFn: (id: string) => ask(api.DELETE('/admin/v1/views/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['views'] }),
    onError: (error) => fails('The deletion', error),
  })
  // Views belong to users; the operator's token has none.
  if (!may('views') || session.kind !== 'user') return null
  return (
    <>
      <Menu position="bottom-end" width={264} opened={isOpen} onChange={setOpen}>
        <Menu.Target>
          <Button variant="default" leftSection={<BookmarkIcon size={14} />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.error === null ? null : <Problem error={views.error} onAgain={() => void views.refetch()} />}
          {views.data?.data.length === 0 ? (
            <Menu.Label>No saved view yet. Set filters, then save them here.</Menu.Label>
          ) : null}
          {views.data?.data.map(({ id, name, query, shared, own }) => (
            <Menu.Item
              key={id}
              onClick={() => onOpen(query)}
              rightSection={
                own ? (
                  <ActionIcon
                    component="span"
                    size={20}
                    aria-label={`Delete the view ${name}`}
                    onClick={(event) => {
                      event.stopPropagation()
                      remove.mutate(id)
                    }}
                  >
                    <TrashIcon size={12} />
                  </ActionIcon>
                ) : null
              }
            >
              {name} {shared ? <span className="tg-quiet">shared</span> : null}
            </Menu.Item>
          ))}
          {may('views', 'write') ? (
            <>
              <Menu.Divider />
              <Menu.Item onClick={() => setSaving(true)}>Save these filters as a view</Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isSaving} onClose={() => setSaving(false)} title="Save a view">
        <SaveView search={search} onDone={() => setSaving(false)} />
      </Modal>
    </>
  )
}

function SaveView({ search, onDone }: { search: Texts; onDone(): void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const names = new Set([...filtersOf(search).map(parameterOf), 'last', 'from', 'to', 'sort'])
  const query = Object.fromEntries(Object.entries(search).filter(([parameter]) => names.has(parameter)))
  const save = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/views', { body: { name, page: 'log', query, shared: isShared } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['views'] })
      done(`The view ${name} is saved`)
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
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
          data-autofocus
        />
        <Checkbox
          label="Share it with the others of your tenant"
          checked={isShared}
          onChange={(event) => setShared(event.currentTarget.checked)}
        />
        {save.error === null ? null : <Problem error={save.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Save the view
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
