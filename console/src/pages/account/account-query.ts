import { queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'

/** The user who is signed in, with what the sign-in asks for. */
export const accountQuery = queryOptions({
  queryKey: ['account', 'own'],
  queryFn: ({ signal }) => ask(api.GET('/admin/v1/account', { signal })),
})
