import { Button, Popover, Skeleton } from '@mantine/core'
import { ChevronDownIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { api, ask } from '../../api/client.ts'

/** The first page needs no list. */
const TenantList = lazy(async () => ({ default: (await import('./tenant-list.tsx')).TenantList }))

/** Whose numbers the page shows: those of all tenants (`id` undefined), or of one. */
export function TenantChoice({
  id,
  onChange,
}: {
  id: string | undefined
  onChange(id: string | undefined): void
}) {
  const [isOpen, setOpen] = useState(false)
  const chosen = useQuery({
    queryKey: ['tenants', 'name', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/tenants/{id}', { params: { path: { id: id ?? '' } }, signal })),
  })
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withRoles={false}>
      <Popover.Target>
        <Button
          variant="default"
          aria-expanded={isOpen}
          rightSection={<ChevronDownIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {id === undefined ? 'All tenants' : (chosen.data?.name ?? id)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={<Skeleton height={160} width={232} />}>
          <TenantList
            id={id}
            onChange={(next) => {
              setOpen(false)
              onChange(next)
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
