import type { Schema } from '../../api/client.ts'
import { Clock, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { wordsOfAction } from './action-words.ts'
import { resourceTitle } from './audit-fields.ts'

type Line = Schema<'AuditEntry'>

export const auditColumns: readonly Column<Line>[] = [
  {
    id: 'at',
    head: 'Time',
    width: 144,
    sort: 'created_at',
    cell: (line, above) => <Clock at={line.created_at} after={above?.created_at} withMillis={false} />,
  },
  {
    id: 'actor',
    head: 'Who',
    width: 144,
    grows: true,
    value: ({ actor }) => (actor.kind === 'user' ? actor.name : undefined),
    cell: ({ actor }) => (
      <span title={`${actor.name}, ${actor.kind}`}>
        {actor.name} {actor.kind === 'user' ? null : <span className="tg-quiet">{actor.kind}</span>}
      </span>
    ),
  },
  {
    id: 'action',
    head: 'Did what',
    width: 176,
    value: ({ action }) => action,
    cell: ({ action }) => <span title={action}>{wordsOfAction(action)}</span>,
  },
  {
    id: 'resource',
    head: 'To what',
    width: 200,
    grows: true,
    value: ({ resource, resource_name, resource_id }) =>
      `${resourceTitle(resource)} ${resource_name ?? resource_id}`,
    cell: ({ resource, resource_name, resource_id }) => (
      <span title={resource_id}>
        <span className="tg-quiet">{resourceTitle(resource)}</span> {resource_name ?? resource_id}
      </span>
    ),
  },
  {
    id: 'address',
    head: 'From where',
    width: 136,
    isWide: true,
    cell: ({ address }) => address ?? <None why="No caller: the gateway itself" />,
  },
]
