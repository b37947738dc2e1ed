import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { EmptyState } from './empty-state.tsx'

/** Instead of a list of which no row fits the filters. */
export function NoneFits({ what }: { what: 'key' | 'group' | 'tenant' | 'channel' | 'model' }) {
  const navigate = useNavigate()
  return (
    <EmptyState
      title={`No ${what} fits these filters`}
      action={
        <Button variant="default" onClick={() => void navigate({ to: '.', search: {} as never })}>
          {`Show all ${what}s`}
        </Button>
      }
    />
  )
}
