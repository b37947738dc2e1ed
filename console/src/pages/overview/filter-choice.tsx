import { Button, CloseButton, Popover, Skeleton } from '@mantine/core'
import { FilterIcon } from '@primer/octicons-react'
import { lazy, Suspense, useState } from 'react'
import { useNameOf } from '../../parts/things-by-name.ts'
import classes from './overview.module.css'
import { filterParts } from './overview-address.ts'
import type { PageFilter, Terms } from './overview-query.ts'

/** The first page needs no list. */
const FilterList = lazy(async () => ({ default: (await import('./filter-list.tsx')).FilterList }))

export type FilterName = keyof PageFilter

interface FilterProps {
  terms: Terms
  isMember: boolean
  /** `value` undefined: the filter goes. */
  onChange(name: FilterName, value: string | undefined): void
}

/** What the whole page is narrowed to: one of each part of the sums. */
export function FilterChoice(props: FilterProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus withRoles={false}>
      <Popover.Target>
        <Button
          variant="default"
          aria-expanded={isOpen}
          leftSection={<FilterIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          Filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense fallback={<Skeleton height={240} width={264} />}>
          <FilterList
            {...props}
            onChange={(name, value) => {
              setOpen(false)
              props.onChange(name, value)
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}

/** The filters that are set, each with a button that takes it out. */
export function ChosenFilters({ terms, onChange }: FilterProps) {
  const chosen = filterParts.filter(({ name }) => terms.filter[name] !== undefined)
  if (chosen.length === 0) return null
  return (
    <ul className={classes.chosen} aria-label="Filters">
      {chosen.map(({ name, title }) => (
        <Chip key={name} {...{ name, title }} value={terms.filter[name] ?? ''} onChange={onChange} />
      ))}
    </ul>
  )
}

function Chip({
  name,
  title,
  value,
  onChange,
}: {
  name: FilterName
  title: string
  value: string
  onChange: FilterProps['onChange']
}) {
  const words = `${title}: ${useNameOf(name, value) ?? value}`
  return (
    <li>
      {words}
      <CloseButton
        size="sm"
        aria-label={`Remove the filter ${words}`}
        onClick={() => onChange(name, undefined)}
      />
    </li>
  )
}
