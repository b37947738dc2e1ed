import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/client.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import classes from './access.module.css'

/** What is shown instead of one tenant, key or group while it is read, and where it cannot be. */
export function NotThere({
  what,
  query,
  back,
}: {
  what: string
  query: { error: unknown; refetch(): unknown }
  /** The link to the list. */
  back: ReactNode
}) {
  const { error } = query
  const isUnknown = error instanceof ApiError && error.status === 404
  return (
    <Page title={what}>
      {isUnknown ? (
        <EmptyState title={`There is no such ${what.toLowerCase()}`} action={back}>
          Its address is wrong, or you may not see it.
        </EmptyState>
      ) : error === null || error === undefined ? (
        <div role="status" aria-label="Loading" className={classes.late}>
          <Skeleton height={40} />
          <Skeleton height={120} />
          <Skeleton height={200} />
        </div>
      ) : (
        <Problem error={error} onAgain={() => void query.refetch()} />
      )}
    </Page>
  )
}
