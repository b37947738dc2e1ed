import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { askTagged } from '../../api/tagged.ts'

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => askTagged(api.GET('/admin/v1/settings', { signal })),
})
