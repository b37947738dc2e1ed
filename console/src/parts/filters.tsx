import { Button, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks'
import { FilterIcon, SearchIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Texts } from '../console-search.ts'
import { looksLikeSecret, secretElsewhere } from './looks-like-secret.ts'
import { isTyping } from './typing.ts'

/** The filters of a list, which are in the address of the page. */
export interface Filters {
  /** Empty: not set. */
  get(name: string): string
  /** An empty text takes the filter out. */
  set(changes: Readonly<Record<string, string>>): void
  isAny: boolean
}

export function useFilters(names: readonly string[]): Filters {
  const search = useSearch({ strict: false }) as Texts
  const navigate = useNavigate()
  const get = (name: string) => {
    const value = search[name]
    return typeof value === 'string' ? value : (value?.[0] ?? '')
  }
  return {
    get,
    set(changes) {
      void navigate({
        to: '.',
        search: ((former: Texts) => {
          const next: Texts = { ...former, ...changes }
          for (const name of Object.keys(changes)) if (next[name] === '') delete next[name]
          return next
        }) as never,
        replace: true,
      })
    },
    isAny: names.some((name) => get(name) !== ''),
  }
}

/**
 * A search field that writes the address when the reader pauses, unless the text looks like the secret of a
 * key. `/` leads to it. `onText` gets every text, and `note` is shown below it.
 */
export function SearchField({
  filters,
  label,
  name = 'search',
  onText,
  note,
}: {
  filters: Filters
  label: string
  name?: string
  onText?(text: string): void
  note?: string | undefined
}) {
  const stands = filters.get(name)
  const [text, setText] = useState(stands)
  const field = useRef<HTMLInputElement>(null)
  const write = useDebouncedCallback((value: string) => filters.set({ [name]: value.trim() }), 250)
  useEffect(() => {
    // "Back" and a cleared filter change the address; what the reader types must not jump.
    if (document.activeElement !== field.current) setText(stands)
  }, [stands])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.defaultPrevented || isTyping(event)) return
      event.preventDefault()
      field.current?.focus()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <TextInput
      ref={field}
      size="xs"
      w={208}
      aria-label={label}
      placeholder={label}
      leftSection={<SearchIcon size={14} />}
      value={text}
      description={note ?? (onText === undefined && looksLikeSecret(text) ? secretElsewhere : undefined)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        onText?.(value)
        write(looksLikeSecret(value) ? stands : value)
      }}
    />
  )
}

/** A filter with few values. The first of `options` is "all", with an empty value. */
export function ChoiceFilter({
  filters,
  name,
  label,
  options,
}: {
  filters: Filters
  name: string
  label: string
  options: readonly { value: string; label: string }[]
}) {
  return (
    <Select
      size="xs"
      w={152}
      aria-label={label}
      data={options.map((option) => ({ ...option }))}
      value={filters.get(name)}
      onChange={(value) => filters.set({ [name]: value ?? '' })}
      searchable={options.length > 8}
    />
  )
}

/**
 * The filters of a list. On a phone those of `children` wait behind a button, which says whether one is set;
 * `first` stays. Without `filters` all stay.
 */
export function FilterBar({
  filters,
  first,
  children,
}: {
  filters?: Filters
  first?: ReactNode
  children: ReactNode
}) {
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const [isOpen, setOpen] = useState(false)
  const folds = isPhone === true && filters !== undefined
  return (
    <Group gap={8} role="search" aria-label="Filters">
      {first}
      {folds ? (
        <Button
          variant="default"
          size="xs"
          aria-expanded={isOpen}
          leftSection={<FilterIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide filters' : filters.isAny ? 'Filters (set)' : 'Filters'}
        </Button>
      ) : null}
      {folds && !isOpen ? null : children}
    </Group>
  )
}
