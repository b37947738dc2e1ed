import { SearchIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Problem } from '../../parts/problem.tsx'
import { type Found, marked } from './found.ts'
import classes from './search-dialog.module.css'

/** Full-text search of the documents: arrows choose, Enter opens, Esc closes. */
export function SearchDialog({ onClose, onGo }: { onClose(): void; onGo(to: string): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const { data, error, refetch } = useQuery({
    queryKey: ['documents-index'],
    // The field is there at once, and takes what is typed. The index and what reads it come after it.
    queryFn: async () => {
      const { find, loadIndex } = await import('./find.ts')
      const index = await loadIndex()
      return (words: string) => find(index, words)
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  })
  useEffect(() => dialog.current?.showModal(), [])
  const found = data === undefined || words.trim() === '' ? [] : data(words)
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((at + step + found.length) % found.length)
    }
    const here = found[at]
    if (event.key === 'Enter' && here !== undefined) {
      event.preventDefault()
      onGo(here.id)
    }
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={dialog}
      className={classes.dialog}
      aria-label="Search the documents"
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div className={classes.field}>
        <SearchIcon size={16} aria-hidden />
        <input
          type="search"
          role="combobox"
          aria-label="Search the documents"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
          placeholder="A word, a setting, an error"
          value={words}
          onChange={({ currentTarget: { value } }) => {
            setWords(value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {error === null ? null : (
        <Problem error={error} doing="Search the documents" onAgain={() => void refetch()} />
      )}
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Pages" className={classes.list}>
        {found.map((one, index) => (
          <Line key={one.id} id={`${id}-${index}`} found={one} isHere={index === at} onGo={onGo} />
        ))}
      </div>
      <p className={classes.note} role="status">
        {noteOf(words, found, data !== undefined)}
      </p>
    </dialog>
  )
}

function noteOf(words: string, found: readonly Found[], isLoaded: boolean): string {
  if (words.trim() === '') return 'Every document, by its headings and its text.'
  if (!isLoaded) return 'Reading the index…'
  if (found.length === 0) return 'No page has all of these words. Try fewer of them.'
  return `${found.length === 1 ? '1 place' : `${found.length} places`}. Enter opens the one that is marked.`
}

function Line({
  id,
  found,
  isHere,
  onGo,
}: {
  id: string
  found: Found
  isHere: boolean
  onGo(to: string): void
}) {
  return (
    // The field has the focus, and the keys: this is the option that it points to.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div id={id} role="option" aria-selected={isHere} className={classes.line} onClick={() => onGo(found.id)}>
      <div className={classes.place}>
        <Marked text={found.page} matches={found.matches} />
        {found.heading === '' ? null : (
          <>
            <span className="tg-quiet"> / </span>
            <Marked text={found.heading} matches={found.matches} />
          </>
        )}
      </div>
      <div className={classes.excerpt}>
        <Marked text={found.excerpt} matches={found.matches} />
      </div>
    </div>
  )
}

function Marked({ text, matches }: { text: string; matches: readonly string[] }) {
  let at = 0
  return marked(text, matches).map(({ text, isMatch }) => {
    const key = at
    at += text.length
    return isMatch ? <mark key={key}>{text}</mark> : <span key={key}>{text}</span>
  })
}
