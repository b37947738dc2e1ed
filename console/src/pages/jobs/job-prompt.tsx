import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Section } from '../../parts/page.tsx'
import { promptOf } from './job-state.ts'
import classes from './jobs.module.css'

/**
 * What the client asked for. Jobs do not tell it: the log keeps it, redacted, and only where the key allows
 * that. So there is none until the job has ended.
 */
export function JobPrompt({ id }: { id: string }) {
  const may = useMay()
  const row = useQuery({
    queryKey: ['requests', 'body', id],
    enabled: may('log'),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/requests/{id}', { params: { path: { id } }, signal })),
  })
  const prompt = row.data === undefined ? undefined : promptOf(row.data.body)
  if (prompt === undefined) return null
  return (
    <Section title="Prompt">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <blockquote className={`${classes.prompt} ${classes.long}`} tabIndex={0}>
        {prompt}
      </blockquote>
    </Section>
  )
}
