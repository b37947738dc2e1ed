import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { count } from '../../format/numbers.ts'
import { useHistogram } from './log-query.ts'

const aroundMs = 86_400_000

/** The way from a request to its conversation: that of a day before and a day after. */
export function ConversationLink({ row, session }: { row: Schema<'LogDetail'>; session: string }) {
  const at = new Date(row.created_at).getTime()
  const from = new Date(at - aroundMs).toISOString()
  const to = new Date(at + aroundMs).toISOString()
  const tenant = row.tenant === null ? {} : { tenant_id: [row.tenant.id] }
  const filters = { session: [session], ...tenant }
  const { data } = useHistogram({ filters, from, to })
  return (
    <Link to="/console/conversation" search={{ ...filters, from, to } as never}>
      {data === undefined
        ? 'Conversation'
        : `Conversation: ${data.exact ? '' : 'at least '}${count(data.requests)} ${data.requests === 1 ? 'request' : 'requests'}`}
    </Link>
  )
}
