import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Menu,
  Popover,
  SegmentedControl,
  Stack,
  TextInput,
} from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { PlusIcon, SearchIcon, XIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import classes from './filter-bar.module.css'
import {
  type FilterField,
  filterField,
  filterFields,
  filtersOf,
  parameterOf,
  typedOf,
  withoutFilters,
  withoutValue,
  withValue,
} from './log-filters.ts'

interface FilterBarProps {
  search: Texts
  onChange(search: Texts): void
  onOpen(id: string): void
}

/** The filters of the address as chips, and the two ways to more: typed, and chosen. */
export function FilterBar({ search, onChange, onOpen }: FilterBarProps) {
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
  const shown = value === '' ? 'none' : value
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

function TypedFilter({ search, onChange, onOpen }: FilterBarProps) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useHotkeys([['/', () => field.current?.focus()]])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const typed = typedOf(text)
    if (typed.kind === 'id') onOpen(typed.id)
    else
      onChange(typed.filters.reduce((next, { value, ...filter }) => withValue(next, filter, value), search))
    setText('')
  }
  return (
    <form onSubmit={submit} className={classes.typed}>
      <TextInput
        ref={field}
        size="xs"
        aria-label="Search the log"
        placeholder="Error text, request id, or status:5xx -channel:main"
        leftSection={<SearchIcon size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') field.current?.blur()
        }}
      />
    </form>
  )
}

function AddFilter({ search, onChange }: Omit<FilterBarProps, 'onOpen'>) {
  const { role } = useSession()
  const [field, setField] = useState<FilterField | undefined>(undefined)
  const fields = filterFields.filter((field) => role !== 'member' || field.for !== 'operators')
  return (
    <Popover
      opened={field !== undefined}
      onChange={() => setField(undefined)}
      position="bottom-start"
      trapFocus
      withRoles={false}
      width={304}
    >
      <Popover.Target>
        <span>
          <Menu position="bottom-start" width={208}>
            <Menu.Target>
              <Button variant="default" leftSection={<PlusIcon size={14} />}>
                Filter
              </Button>
            </Menu.Target>
            <Menu.Dropdown className={classes.kinds}>
              {fields.map((one) => (
                <Menu.Item key={one.name} onClick={() => setField(one)}>
                  {one.title}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </span>
      </Popover.Target>
      <Popover.Dropdown>
        {field === undefined ? null : (
          <ValueForm
            field={field}
            onDone={(keeps, value) => {
              setField(undefined)
              onChange(withValue(search, { name: field.name, keeps }, value))
            }}
          />
        )}
      </Popover.Dropdown>
    </Popover>
  )
}

function ValueForm({ field, onDone }: { field: FilterField; onDone(keeps: boolean, value: string): void }) {
  const [keeps, setKeeps] = useState('is')
  const [value, setValue] = useState('')
  const known = useKnownValues(field, value)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone(keeps === 'is', value.trim())
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
        <Autocomplete
          size="sm"
          aria-label={field.title}
          data-autofocus
          data={[...known]}
          value={value}
          onChange={setValue}
          limit={50}
          maxDropdownHeight={240}
          comboboxProps={{ withinPortal: false }}
          description={descriptionOf(field)}
        />
        <Button type="submit">{keeps === 'is' ? 'Keep these rows' : 'Leave these rows out'}</Button>
      </Stack>
    </form>
  )
}

function descriptionOf({ kind }: FilterField): string {
  if (kind === 'part') return 'Any part of the text, in capital or small letters'
  if (kind === 'number' || kind === 'usd') return 'A number, or a range: 100..500, 1000.., ..50'
  return 'Empty: rows that have none'
}

/** Names of what is there today. A former name can be typed too: the log has it. */
function useKnownValues(field: FilterField, words: string): readonly string[] {
  const list = lists[field.name]
  const { data } = useQuery({
    queryKey: ['known-values', field.name, list?.searches === true ? words : ''],
    enabled: list !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) => list?.read(words, signal) ?? [],
  })
  return [...new Set(field.values ?? data ?? [])]
}

interface KnownList {
  /** The API searches; else all are read once. */
  searches: boolean
  read(words: string, signal: AbortSignal): Promise<string[]>
}

const models: KnownList = {
  searches: false,
  read: async (_words, signal) =>
    (await ask(api.GET('/admin/v1/models', { params: { query: { limit: 200 } }, signal }))).data.map(
      ({ id }) => id,
    ),
}

const lists: Readonly<Record<string, KnownList>> = {
  model: models,
  requested_model: models,
  channel: {
    searches: false,
    read: async (_words, signal) =>
      (await ask(api.GET('/admin/v1/channels', { params: { query: { limit: 200 } }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  tenant: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/tenants', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  key: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/keys', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  group: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/groups', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
}

function searchOf(words: string) {
  return { limit: 50, ...(words === '' ? {} : { search: words }) }
}
