import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Texts } from '../../console-search.ts'
import { Code } from '../../parts/code.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { gatewayUrl } from '../../site.ts'
import { filtersOf, withoutFilters } from './log-filters.ts'

/** No row: either nothing matches, or no request has been made yet. */
export function LogEmpty({ search, onChange }: { search: Texts; onChange(search: Texts): void }) {
  if (filtersOf(search).length > 0) {
    return (
      <EmptyState
        title="No request of this time matches"
        action={<Button onClick={() => onChange(withoutFilters(search))}>Remove all filters</Button>}
      >
        Remove a filter above, or choose more time.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      title="No request in this time"
      action={<Link to="/console/set-up">Set up a key and a channel</Link>}
    >
      <p>Each request has one row here, also one that was refused or cut. Make one with a key:</p>
      <Code
        what="the command"
        text={`curl ${gatewayUrl}/v1/chat/completions -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "demo-chat", "messages": [{"role": "user", "content": "Hello"}]}'`}
      />
    </EmptyState>
  )
}
