import { Link } from '@tanstack/react-router'
import type { ListedKey } from '../../api/access-queries.ts'
import { Clock, Moment, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { RequestsCell, SpendCell } from '../../parts/spend-cells.tsx'
import classes from '../access/access.module.css'
import { KeyName, KeyState } from './key-cells.tsx'

/** In their usual order. */
export const keyColumnIds = [
  ...['name', 'state', 'tenant', 'group', 'last_use', 'last_network', 'new_network', 'hint'],
  ...['requests', 'spend', 'expires'],
]

/** The columns of the list of keys. Members see one tenant, and need no column for it. */
export function useKeyColumns(isMember: boolean): Column<ListedKey>[] {
  return [
    { id: 'name', head: 'Name', width: 128, grows: true, sort: 'name', cell: (key) => <KeyName of={key} /> },
    { id: 'state', head: 'State', width: 104, cell: (key) => <KeyState of={key} /> },
    ...(isMember ? [] : [tenantColumn]),
    { id: 'group', head: 'Group', width: 96, isWide: true, cell: ({ group }) => group },
    ...usageColumns,
    {
      id: 'hint',
      head: 'Secret begins',
      width: 112,
      isExtra: true,
      isWide: true,
      cell: ({ hint }) => <span className="tg-mono">{hint}</span>,
    },
    {
      id: 'requests',
      head: 'Requests, 30 days',
      width: 136,
      isExtra: true,
      align: 'right',
      isWide: true,
      cell: ({ spend }) => <RequestsCell of={spend} />,
    },
    {
      id: 'spend',
      head: 'Spend, 30 days',
      width: 144,
      align: 'right',
      sort: 'spend',
      cell: ({ spend }) => <SpendCell of={spend} />,
    },
    {
      id: 'expires',
      head: 'Expires',
      width: 136,
      sort: 'expires_at',
      isWide: true,
      cell: ({ expires_at }) => <Moment at={expires_at} none="never" />,
    },
  ]
}

const tenantColumn: Column<ListedKey> = {
  id: 'tenant',
  head: 'Tenant',
  width: 104,
  grows: true,
  isWide: true,
  cell: ({ tenant }) => tenant,
}

/** When and from where a key was used. */
const usageColumns: readonly Column<ListedKey>[] = [
  {
    id: 'last_use',
    head: 'Last use',
    width: 136,
    sort: 'last_used_at',
    isWide: true,
    cell: ({ last_used_at }) => <Moment at={last_used_at} none="none known" />,
  },
  {
    id: 'last_network',
    head: 'Last network',
    width: 136,
    isWide: true,
    cell: (key) => <FromNetwork of={key} network={key.last_network} />,
  },
  {
    id: 'new_network',
    head: 'New network',
    about: 'The network that was new last, and when its first request came',
    width: 232,
    isExtra: true,
    sort: 'new_network_at',
    isWide: true,
    cell: (key) =>
      key.new_network === null ? (
        <None why="It was used from one network only." />
      ) : (
        <>
          <FromNetwork of={key} network={key.new_network} />{' '}
          <span className="tg-quiet">
            <Clock at={key.new_network_at ?? ''} withMillis={false} />
          </span>
        </>
      ),
  },
]

/** A network, which leads to the requests from there. */
function FromNetwork({ of, network }: { of: ListedKey; network: string | null }) {
  if (network === null) return <None />
  return (
    <Link
      className={classes.link}
      to="/console/log"
      search={{ key_id: of.id, client_address: network, last: '30d' }}
    >
      {network}
    </Link>
  )
}
