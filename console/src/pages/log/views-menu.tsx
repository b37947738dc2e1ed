import { Button, Checkbox, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { BookmarkIcon } from '@primer/octicons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useMay, useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { OwnViews, useSharing } from './own-views.tsx'
import { viewOf } from './view-of.ts'

/** Filters under a name: one's own, and those that others share. A view is nothing but an address. */
export function ViewsMenu({ search, onOpen }: { search: Texts; onOpen(search: Texts): void }) {
  const may = useMay()
  const session = useSession()
  const [dialog, setDialog] = useState<'save' | 'own'>()
  const close = () => setDialog(undefined)
  const [isOpen, setOpen] = useState(false)
  const views = useQuery({
    queryKey: ['views', 'log'],
    enabled: isOpen,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/views', { params: { query: { page: 'log', limit: 200 } }, signal })),
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
          {views.data?.data.map(({ id, name, query, shared, own, user }) => (
            <Menu.Item key={id} onClick={() => onOpen(query)}>
              {name}{' '}
              {shared ? (
                <span className="tg-quiet">{own ? 'shared by you' : `shared by ${user}`}</span>
              ) : null}
            </Menu.Item>
          ))}
          {may('views', 'write') ? (
            <>
              <Menu.Divider />
              <Menu.Item onClick={() => setDialog('save')}>Save these filters as a view</Menu.Item>
              {views.data?.data.some(({ changeable }) => changeable) ? (
                <Menu.Item onClick={() => setDialog('own')}>Change or delete a view</Menu.Item>
              ) : null}
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={dialog === 'save'} onClose={close} title="Save a view">
        <SaveView search={search} onDone={close} />
      </Modal>
      <Modal opened={dialog === 'own'} onClose={close} title="Change a view" closeOnClickOutside={false}>
        <OwnViews
          views={(views.data?.data ?? []).filter(({ changeable }) => changeable)}
          search={search}
          onDone={close}
        />
      </Modal>
    </>
  )
}

function SaveView({ search, onDone }: { search: Texts; onDone(): void }) {
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const save = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/admin/v1/views', { body: { name, page: 'log', query: viewOf(search), shared: isShared } }),
      ),
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
          label={`Share it with ${useSharing()}`}
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
