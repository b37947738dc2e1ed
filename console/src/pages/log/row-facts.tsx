import { ActionIcon, Tooltip } from '@mantine/core'
import { DiffRemovedIcon, FilterIcon } from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { Moment, Tokens } from '../../parts/formatted-values.tsx'
import { Facts } from '../../parts/page.tsx'
import { Ending } from './log-columns.tsx'
import { columnFields, textIn, withValue } from './log-filters.ts'
import classes from './row-facts.module.css'

type Detail = Schema<'LogDetail'>

/** Above the facts, or at their end. */
const elsewhere: ReadonlySet<string> = new Set([
  ...['endpoint', 'outcome', 'error_kind', 'error_reason', 'attempts', 'request_id'],
])

/** What the row says, each value with the two filters that it can set. */
export function RowFacts({
  row,
  search,
  onFilter,
}: {
  row: Detail
  search: Texts
  onFilter(search: Texts): void
}) {
  const { role } = useSession()
  const fact = (title: string, name: string, value: string | null | undefined, shown?: ReactNode) =>
    value === null || value === undefined || value === ''
      ? []
      : [[title, <Value key={name} {...{ name, value, shown, search, onFilter }} />] as const]
  const link = (to: string, name: string | null | undefined) => <Link to={to}>{name}</Link>
  const { tokens } = row
  return (
    <Facts
      facts={[
        ['Time', <Moment key="at" at={row.created_at} />],
        ...fact('Status', 'status', String(row.status), <Ending row={row} />),
        ...(role === 'member'
          ? []
          : fact(
              'Tenant',
              'tenant',
              row.tenant?.name,
              link(`/console/tenants/${row.tenant?.id}`, row.tenant?.name),
            )),
        ...fact('Key', 'key', row.key?.name, link(`/console/keys/${row.key?.id}`, row.key?.name)),
        ...fact('Group', 'group', row.group?.name),
        ...fact('Model', 'requested_model', row.requested_model),
        ...fact('Served by', 'served_model', row.served_model),
        ...fact('Channel', 'channel', row.channel),
        ...(tokens === null
          ? []
          : [
              [
                'Tokens',
                <span key="tokens">
                  <Tokens value={tokens.input} /> in, <Tokens value={tokens.cache_read} /> from and{' '}
                  <Tokens value={tokens.cache_write} /> into the cache, <Tokens value={tokens.output} /> out,{' '}
                  <Tokens value={tokens.reasoning} /> of reasoning
                </span>,
              ] as const,
            ]),
        ...columnFields.flatMap((field) =>
          elsewhere.has(field.name) ? [] : fact(field.title, field.name, textIn(row, field)),
        ),
        ...row.tags.flatMap((tag) => fact(`Tag ${tag}`, 'tag', tag)),
        ...fact('Idempotency key', 'idempotency_key', row.idempotency_key),
        ...(row.folded > 1 ? fact('Stands for', 'folded', String(row.folded), `${row.folded} requests`) : []),
        ...fact('Request id', 'request_id', row.id),
      ]}
    />
  )
}

function Value({
  name,
  value,
  shown,
  search,
  onFilter,
}: {
  name: string
  value: string
  shown?: ReactNode
  search: Texts
  onFilter(search: Texts): void
}) {
  return (
    <span className={classes.value}>
      <span className={classes.text}>{shown ?? value}</span>
      <span className={classes.filters}>
        <Tooltip label="Keep only rows with this">
          <ActionIcon
            size={20}
            aria-label={`Keep only rows with ${value}`}
            onClick={() => onFilter(withValue(search, { name, keeps: true }, value))}
          >
            <FilterIcon size={12} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label="Leave out rows with this">
          <ActionIcon
            size={20}
            aria-label={`Leave out rows with ${value}`}
            onClick={() => onFilter(withValue(search, { name, keeps: false }, value))}
          >
            <DiffRemovedIcon size={12} />
          </ActionIcon>
        </Tooltip>
      </span>
    </span>
  )
}
