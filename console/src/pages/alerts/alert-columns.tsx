import { duration } from '../../format/numbers.ts'
import { Clock, Duration, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { State } from '../../parts/state.tsx'
import type { Episode, Rule } from './alerts-query.ts'
import { kindOf } from './rule-fields.ts'
import { ruleWords } from './rule-words.ts'
import { formatNames } from './webhook-format.ts'

export const historyColumns: readonly Column<Episode>[] = [
  {
    id: 'at',
    head: 'Since',
    width: 152,
    cell: (row, above) => <Clock at={row.opened_at} after={above?.opened_at} />,
  },
  {
    id: 'lasted',
    head: 'Lasted',
    width: 104,
    align: 'right',
    cell: ({ opened_at, closed_at }) =>
      closed_at === null ? (
        <None why="It still holds" />
      ) : (
        <Duration ms={new Date(closed_at).getTime() - new Date(opened_at).getTime()} />
      ),
  },
  {
    id: 'summary',
    head: 'What',
    width: 280,
    grows: true,
    cell: ({ summary }) => <span title={summary}>{summary}</span>,
  },
  {
    id: 'rule',
    head: 'Rule',
    width: 176,
    isWide: true,
    value: ({ rule }) => rule.name,
    cell: ({ rule }) => <span title={kindOf(rule.kind)?.title}>{rule.name}</span>,
  },
  {
    id: 'acknowledged',
    head: 'Acknowledged by',
    width: 176,
    isWide: true,
    cell: ({ acknowledged }) =>
      acknowledged === null ? <None why="Nobody" /> : <span title={acknowledged.by}>{acknowledged.by}</span>,
  },
]

/** `tenantName`: of an id; undefined: the reader sees one tenant only. */
export function ruleColumns(tenantName: ((id: string) => string) | undefined): readonly Column<Rule>[] {
  return [
    {
      id: 'name',
      head: 'Rule',
      width: 152,
      grows: true,
      cell: ({ name }) => <span title={name}>{name}</span>,
    },
    {
      id: 'state',
      head: 'State',
      width: 104,
      cell: ({ enabled }) => (
        <State tone={enabled ? 'good' : 'quiet'}>{enabled ? 'watched' : 'turned off'}</State>
      ),
    },
    {
      id: 'when',
      head: 'Condition',
      width: 320,
      grows: true,
      isWide: true,
      cell: ({ condition }) => <span title={ruleWords(condition)}>{ruleWords(condition)}</span>,
    },
    ...(tenantName === undefined
      ? []
      : [
          {
            id: 'tenant',
            head: 'Scope',
            width: 120,
            isWide: true,
            cell: ({ tenant_id }: Rule) =>
              tenant_id === null ? 'all tenants' : <span title={tenant_id}>{tenantName(tenant_id)}</span>,
          },
        ]),
    {
      id: 'webhook',
      head: 'Webhook',
      width: 176,
      isWide: true,
      cell: ({ webhook }) =>
        webhook === null ? (
          <None why="None: alerts are shown only here" />
        ) : (
          <span title={webhook.host}>
            {webhook.format === 'tollgate' ? webhook.host : formatNames[webhook.format]}
          </span>
        ),
    },
    {
      id: 'resolves',
      head: 'Resolves',
      about: 'An alert closes when its condition has not been true for this long',
      width: 104,
      align: 'right',
      isWide: true,
      cell: ({ resolve_after_seconds }) => duration(resolve_after_seconds * 1_000),
    },
  ]
}
