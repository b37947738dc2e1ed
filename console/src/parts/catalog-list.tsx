import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { PlusIcon } from '@primer/octicons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import type { List } from '../api/list.ts'
import { useMay } from '../api/session.ts'
import type { Texts } from '../console-search.ts'
import { rangeOf } from '../format/range.ts'
import { useColumnChoice } from './column-choice.ts'
import { ColumnsMenu } from './columns-menu.tsx'
import { EmptyState } from './empty-state.tsx'
import { FilterBar, type Filters, SearchField } from './filters.tsx'
import { ListGrid } from './list-grid.tsx'
import { NoneFits } from './none-fits.tsx'
import { Page } from './page.tsx'
import { usePart } from './page-parts.tsx'
import { RangePicker } from './range-picker.tsx'
import { type SortedColumn, sortedRows } from './sorted-rows.ts'

interface CatalogListProps<Row> {
  one: 'channel' | 'model'
  /** All rows: the page itself filters and sorts them. */
  list: UseQueryResult<readonly Row[]>
  /** The sums of the chosen time, of which a part of the columns is made. */
  sums: UseQueryResult<unknown>
  columns: readonly SortedColumn<Row>[]
  filters: Filters
  /** Whether a row fits the filters. */
  fits(row: Row): boolean
  /** What the search finds: "Search by name". */
  searches: string
  /** The filters besides the search. */
  choices: ReactNode
  /** What such a thing is, for those who have none. */
  about: string
  /** What else can be done with all of them. */
  actions?: ReactNode
  /** The form that adds one. */
  form(onMade: (id: string) => void): ReactNode
}

/**
 * The page of all channels or all models: a row opens its own page, and so does the one that the dialog adds.
 */
export function CatalogList<Row extends { id: string }>(props: CatalogListProps<Row>) {
  const { one, columns, filters } = props
  const mayChange = useMay()('catalog', 'write')
  const navigate = useNavigate()
  const search: Texts = useSearch({ strict: false })
  const [isOpen, dialog] = useDisclosure(false)
  const known = useMemo(() => columns.map(({ id }) => id), [columns])
  const choice = useColumnChoice(`${one}s`, known)
  const things = `${one}s` as const
  const title = things.charAt(0).toUpperCase() + things.slice(1)
  const sort = filters.get('sort') || 'name'
  const open = (id: string) => void navigate({ to: `/console/${things}/$id`, params: { id } })
  const add = mayChange ? (
    <Button leftSection={<PlusIcon size={14} />} onClick={dialog.open}>
      {`Add a ${one}`}
    </Button>
  ) : undefined
  return (
    <Page
      wide
      title={title}
      actions={
        <>
          <RangePicker
            range={rangeOf(search)}
            fallback="Last 24 hours"
            onChange={({ last = '', from = '', to = '' }) => filters.set({ last, from, to })}
          />
          <ColumnsMenu columns={columns} choice={choice} />
          {props.actions}
          {add}
        </>
      }
    >
      <FilterBar filters={filters} first={<SearchField filters={filters} label={props.searches} />}>
        {props.choices}
      </FilterBar>
      <SumsProblem of={props.sums} />
      <ListGrid
        label={title}
        things={things}
        list={useShown(props, sort)}
        columns={columns}
        choice={choice}
        idOf={({ id }) => id}
        onOpen={({ id }) => open(id)}
        sort={sort}
        onSort={(next) => filters.set({ sort: next })}
        empty={
          filters.isAny ? (
            <NoneFits what={one} />
          ) : (
            <EmptyState title={`No ${one} yet`} action={add}>
              {props.about}
            </EmptyState>
          )
        }
      />
      <Modal opened={isOpen} onClose={dialog.close} title={`Add a ${one}`}>
        {props.form((id) => {
          dialog.close()
          open(id)
        })}
      </Modal>
    </Page>
  )
}

/** The rows that fit the filters, in order. */
function useShown<Row>({ list, columns, fits }: CatalogListProps<Row>, sort: string): List<Row> {
  const { data, error, isPending, refetch } = list
  const rows = useMemo(
    () => sortedRows((data ?? []).filter(fits), columns, sort),
    [data, fits, columns, sort],
  )
  return {
    rows,
    pages: [],
    isPending,
    isMoreComing: false,
    isWhole: true,
    error,
    more: () => {},
    again: () => void refetch(),
  }
}

/** Only its problem: what it says is in the columns. */
function SumsProblem({ of }: { of: UseQueryResult<unknown> }) {
  return usePart('the numbers', of)
}
