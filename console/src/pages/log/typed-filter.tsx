import { Combobox, TextInput, useCombobox } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { type FormEvent, useCallback, useId, useRef, useState } from 'react'
import type { Texts } from '../../console-search.ts'
import { hasSecret } from '../../parts/looks-like-secret.ts'
import { useKeyOfSecret, wordsOfSecretSearch } from '../../parts/use-key-of-secret.ts'
import classes from './filter-bar.module.css'
import { useFilterFields, useKnownValues } from './known-values.ts'
import { typedOf, withValue } from './log-filters.ts'
import { type Pick, Picks, useActivePick } from './pick-list.tsx'

/**
 * The search field: an id opens its row, and words become filters. For the word that is being typed it names
 * filters, and after the colon values.
 */
export function TypedFilter({
  search,
  onChange,
  onOpen,
}: {
  search: Texts
  onChange(search: Texts): void
  onOpen(id: string): void
}) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useHotkeys([['/', () => field.current?.focus()]])
  const list = useId()
  const known = useFilterFields()
  const reads = (name: string) => known.some((field) => field.name === name)
  const store = useCombobox()
  const { before, picks } = useSuggestions(text)
  const isOpen = store.dropdownOpened && picks.length > 0
  const isSecret = hasSecret(text)
  const clear = useCallback(() => setText(''), [])
  const secret = useKeyOfSecret(isSecret ? text : '', clear)
  const type = (next: string) => {
    setText(next)
    // Enter takes what is typed, unless the reader has gone into the list.
    store.resetSelectedOption()
    store.openDropdown()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    store.closeDropdown()
    if (isSecret) return
    const typed = typedOf(text)
    if (typed.kind === 'id') onOpen(typed.id)
    else
      onChange(typed.filters.reduce((next, { value, ...filter }) => withValue(next, filter, value), search))
    setText('')
  }
  return (
    <form onSubmit={submit} className={classes.typed}>
      <Combobox
        store={{ ...store, dropdownOpened: isOpen }}
        keepMounted={false}
        onOptionSubmit={(picked) => type(before + picked)}
      >
        <Combobox.Target {...useActivePick(list, text)}>
          <TextInput
            ref={field}
            size="xs"
            aria-label="Search the log"
            placeholder={`Error text, request id, or status:5xx ${reads('channel') ? '-channel:main' : '-model:main'}`}
            leftSection={<SearchIcon size={14} />}
            value={text}
            description={
              isSecret ? (wordsOfSecretSearch[secret] ?? 'A secret is not searched for') : undefined
            }
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            onChange={(event) => type(event.currentTarget.value)}
            onBlur={() => store.closeDropdown()}
            onKeyDown={(event) => {
              if (event.key === 'Escape' && !isOpen) field.current?.blur()
            }}
          />
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Options id={list} className={classes.kinds ?? ''} aria-label="Suggestions">
            <Picks picks={picks} />
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </form>
  )
}

/** What the last word of the text can become. `before`: what stands before it. */
function useSuggestions(text: string): { before: string; picks: readonly Pick[] } {
  const fields = useFilterFields()
  const [, before = '', minus = '', name = '', value] =
    /^(.*?)(-?)([\w.]*)(?::("[^"]*|[^\s"]*))?$/s.exec(text) ?? []
  const field = value === undefined ? undefined : fields.find((one) => one.name === name)
  const words = value?.replace(/^"/, '') ?? ''
  const known = useKnownValues(field, words)
  // In the middle of a word that is no filter, such as an id, there is nothing to say.
  if (!/(^|\s)$/.test(before)) return { before, picks: [] }
  if (value !== undefined)
    return {
      before,
      picks: known.map((each) => ({
        value: `${minus}${name}:${/\s/.test(each) ? `"${each}"` : each} `,
      })),
    }
  const part = name.toLowerCase()
  if (part === '') return { before, picks: [] }
  const found = fields.filter((one) => `${one.name} ${one.title}`.toLowerCase().includes(part))
  // Names that begin with it come first.
  const sorted = found.sort((a, b) => Number(b.name.startsWith(part)) - Number(a.name.startsWith(part)))
  return { before, picks: sorted.map((one) => ({ value: `${minus}${one.name}:`, about: one.title })) }
}
