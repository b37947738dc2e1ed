import { useNavigate, useParams } from '@tanstack/react-router'
import type { Texts } from '../console-search.ts'

/**
 * The row that is open beside a list, and how another one is opened: walking through rows leaves one step to
 * go back.
 */
export function useOpenRow(list: '/console/alerts' | '/console/audit' | '/console/jobs', search: Texts) {
  const { id } = useParams({ strict: false })
  const navigate = useNavigate()
  return {
    id,
    open: (row: { id: string }) =>
      void navigate({ to: `${list}/$id`, params: { id: row.id }, search, replace: id !== undefined }),
    close: () => void navigate({ to: list, search }),
  }
}
