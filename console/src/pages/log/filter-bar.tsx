import { ActionIcon, Button } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import type { Texts } from '../../console-search.ts'
import { useNameOf } from '../../parts/things-by-name.ts'
import { AddFilter } from './add-filter.tsx'
import classes from './filter-bar.module.css'
import {
  filterField,
  filtersOf,
  parameterOf,
  withoutFilters,
  withoutValue,
  withValue,
} from './log-filters.ts'
import { TypedFilter } from './typed-filter.tsx'

interface FilterBarProps {
  search: Texts
  onChange(search: Texts): void
  onOpen(id: string): void
  /** After the button that adds a filter. */
  children: ReactNode
}

/** The filters of the address as chips, and the two ways to more: typed, and chosen. */
export function FilterBar({ search, onChange, onOpen, children }: FilterBarProps) {
  const filters = filtersOf(search)
  return (
    <div className={classes.bar}>
      <TypedFilter search={search} onChange={onChange} onOpen={onOpen} />
      {filters.flatMap(({ name, keeps, values }) =>
        values.map((value) => (
          <Chip
            key={`${parameterOf({ name, keeps })}=${value}`}
            name={name}
            keeps={keeps}
            value={value}
            onTurn={() =>
              onChange(
                withValue(
                  withoutValue(search, parameterOf({ name, keeps }), value),
                  { name, keeps: !keeps },
                  value,
                ),
              )
            }
            onRemove={() => onChange(withoutValue(search, parameterOf({ name, keeps }), value))}
          />
        )),
      )}
      <AddFilter search={search} onChange={onChange} />
      {children}
      {filters.length > 1 ? (
        <Button variant="subtle" onClick={() => onChange(withoutFilters(search))}>
          Remove all filters
        </Button>
      ) : null}
    </div>
  )
}

function Chip({
  name,
  keeps,
  value,
  onTurn,
  onRemove,
}: {
  name: string
  keeps: boolean
  value: string
  onTurn(): void
  onRemove(): void
}) {
  const title = filterField(name)?.title ?? name
  const named = useNameOf(name, value)
  const shown = value === '' ? 'none' : (named ?? value)
  return (
    <span className={classes.chip} data-keeps={keeps}>
      <button
        type="button"
        className={classes.turn}
        onClick={onTurn}
        title={keeps ? 'Leave these rows out instead' : 'Keep only these rows instead'}
      >
        {title} {keeps ? 'is' : 'is not'} <strong>{shown}</strong>
      </button>
      <ActionIcon size={20} aria-label={`Remove the filter ${title} ${shown}`} onClick={onRemove}>
        <XIcon size={12} />
      </ActionIcon>
    </span>
  )
}
