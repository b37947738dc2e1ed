import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { PlusIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { List } from '../api/list.ts'
import { useMay } from '../api/session.ts'
import { EmptyState } from './empty-state.tsx'
import type { Column } from './grid-props.ts'
import { ListGrid } from './list-grid.tsx'
import { Page } from './page.tsx'

/**
 * The page of all channels or all models: a row opens its own page, and so does the one that the dialog adds.
 */
export function CatalogList<Row extends { id: string }>({
  one,
  list,
  columns,
  about,
  actions,
  form,
}: {
  one: 'channel' | 'model'
  list: List<Row>
  columns: readonly Column<Row>[]
  /** What such a thing is, for those who have none. */
  about: string
  /** What else can be done with all of them. */
  actions?: ReactNode
  /** The form that adds one. */
  form(onMade: (id: string) => void): ReactNode
}) {
  const mayChange = useMay()('catalog', 'write')
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure(false)
  const things = `${one}s` as const
  const title = things.charAt(0).toUpperCase() + things.slice(1)
  const open = (id: string) => void navigate({ to: `/console/${things}/$id`, params: { id } })
  const add = mayChange ? (
    <Button leftSection={<PlusIcon size={14} />} onClick={dialog.open}>
      {`Add a ${one}`}
    </Button>
  ) : undefined
  return (
    <Page
      wide
      title={title}
      actions={
        <>
          {actions}
          {add}
        </>
      }
    >
      <ListGrid
        label={title}
        things={things}
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        empty={
          <EmptyState title={`No ${one} yet`} action={add}>
            {about}
          </EmptyState>
        }
      />
      <Modal opened={isOpen} onClose={dialog.close} title={`Add a ${one}`}>
        {form((id) => {
          dialog.close()
          open(id)
        })}
      </Modal>
    </Page>
  )
}
