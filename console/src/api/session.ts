import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { ApiError, api, ask, type Schema } from './client.ts'
import { queryClient } from './query-client.ts'

/** Who is signed in, and what they may do. */
export type Session = Schema<'Session'>

/** An area of the admin API, as `docs/reference/admin-users.md` lists them. */
export type Area =
  | 'log'
  | 'keys'
  | 'tenants'
  | 'money'
  | 'catalog'
  | 'jobs'
  | 'health'
  | 'probes'
  | 'audit'
  | 'alerts'
  | 'views'
  | 'playground'
  | 'users'
  | 'settings'
  | 'data'

/** Null: no one is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  async queryFn({ signal }): Promise<Session | null> {
    try {
      return await ask(api.GET('/admin/v1/session', { signal }))
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

/** The caller. Only below the pages of the console, which no one sees without a session. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery)
  if (data === null) throw new ApiError(401, { detail: 'Your session has ended. Sign in again.' })
  return data
}

/** Whether the caller may read (default) or change an area. */
export function useMay(): (area: Area, action?: 'read' | 'write') => boolean {
  const session = useSession()
  return (area, action = 'read') => mayOf(session, area, action)
}

export function mayOf(session: Session, area: Area, action: 'read' | 'write' = 'read'): boolean {
  return session.may[area]?.includes(action) ?? false
}

/** After a sign-in, a sign-out, or a session that has ended: forget what another person has read. */
export function forgetSession(): void {
  queryClient.clear()
}
