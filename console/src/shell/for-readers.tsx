import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay, useSession } from '../api/session.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { Page } from '../parts/page.tsx'
import { closedPlace } from './navigation.ts'

/** The page, or, for somebody who may not read it and comes by its address, who can. */
export function ForReaders({ children }: { children: ReactNode }) {
  const { pathname } = useLocation()
  const closed = closedPlace(pathname, useMay(), useSession().role)
  if (closed === undefined) return children
  const { title, instead } = closed
  return (
    <Page title={title}>
      <EmptyState title="You cannot open this page" action={<Link to="/console">Go to the overview</Link>}>
        {instead ?? 'It is about the whole gateway. Ask an admin of the gateway for what you need to know.'}
      </EmptyState>
    </Page>
  )
}
