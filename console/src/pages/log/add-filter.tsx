import { Button, Group, Popover, SegmentedControl, Stack } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { useState } from 'react'
import type { Texts } from '../../console-search.ts'
import { hasSecret, secretElsewhere } from '../../parts/looks-like-secret.ts'
import { useFilterFields, useKnownValues } from './known-values.ts'
import { type FilterField, withValue } from './log-filters.ts'
import { PickList } from './pick-list.tsx'

/** Chooses a filter from the list of all, and then its value. */
export function AddFilter({ search, onChange }: { search: Texts; onChange(search: Texts): void }) {
  const [isOpen, setOpen] = useState(false)
  const [field, setField] = useState<FilterField | undefined>(undefined)
  const open = (next: boolean) => {
    setOpen(next)
    setField(undefined)
  }
  return (
    <Popover opened={isOpen} onChange={open} position="bottom-start" trapFocus returnFocus width={304}>
      <Popover.Target>
        <Button variant="default" leftSection={<PlusIcon size={14} />} onClick={() => open(!isOpen)}>
          Filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Add a filter">
        {field === undefined ? (
          <FieldList onPick={setField} />
        ) : (
          <ValueForm
            field={field}
            onDone={(keeps, value) => {
              open(false)
              onChange(withValue(search, { name: field.name, keeps }, value))
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

function FieldList({ onPick }: { onPick(field: FilterField): void }) {
  const [words, setWords] = useState('')
  const fields = useFilterFields()
  const part = words.trim().toLowerCase()
  const found = fields.filter(({ name, title }) => `${title} ${name}`.toLowerCase().includes(part))
  return (
    <PickList
      size="sm"
      aria-label="Filter to add"
      placeholder="Name of a filter"
      picks={found.map(({ title }) => ({ value: title }))}
      none="No filter has this name"
      takesFirst={part !== ''}
      value={words}
      onChange={setWords}
      onPick={(title) => {
        const field = fields.find((one) => one.title === title)
        if (field !== undefined) onPick(field)
      }}
    />
  )
}

function ValueForm({ field, onDone }: { field: FilterField; onDone(keeps: boolean, value: string): void }) {
  const [keeps, setKeeps] = useState('is')
  const [value, setValue] = useState('')
  const known = useKnownValues(field, value)
  const isSecret = hasSecret(value)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSecret) onDone(keeps === 'is', value.trim())
      }}
    >
      <Stack gap={8}>
        <Group gap={8} wrap="nowrap">
          <strong>{field.title}</strong>
          <SegmentedControl
            size="xs"
            value={keeps}
            onChange={setKeeps}
            data={['is', 'is not']}
            aria-label="Is or is not"
          />
        </Group>
        <PickList
          size="sm"
          aria-label={field.title}
          description={isSecret ? secretElsewhere : descriptionOf(field)}
          // A value that is in the field already is no longer to be picked.
          picks={known.filter((each) => each !== value).map((each) => ({ value: each }))}
          value={value}
          onChange={setValue}
          onPick={setValue}
        />
        <Button type="submit" disabled={isSecret}>
          Apply filter
        </Button>
      </Stack>
    </form>
  )
}

function descriptionOf({ kind }: FilterField): string {
  if (kind === 'part') return 'Any part of the text, in capital or small letters'
  if (kind === 'number' || kind === 'usd') return 'A number, or a range: 100..500, 1000.., ..50'
  return 'Empty: rows that have none'
}
