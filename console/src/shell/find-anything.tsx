import { TextInput } from '@mantine/core'
import { SearchIcon } from '@primer/octicons-react'
import { lazy, Suspense, useState } from 'react'
import classes from './find-anything.module.css'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

/** That somebody asked for the palette; anew each time. */
export interface AskedPalette {
  /** What had the focus. It gets it back. */
  from: Element | null
}

/**
 * The palette, loaded when it is first asked for. Until it has the focus, an input in its place takes what is
 * typed.
 */
export function FindAnything({ asked, onCancel }: { asked: AskedPalette; onCancel(): void }) {
  const [words, setWords] = useState('')
  const [ready, setReady] = useState<AskedPalette>()
  const giveBack = () => {
    const { from } = asked
    if (from instanceof HTMLElement && from.isConnected) from.focus({ preventScroll: true })
  }
  return (
    <>
      {ready === asked ? null : (
        <TextInput
          autoFocus
          className={classes.waiting ?? ''}
          size="md"
          leftSection={<SearchIcon size={16} />}
          placeholder="Find anything"
          aria-label="Find anything"
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key !== 'Escape') return
            onCancel()
            giveBack()
          }}
        />
      )}
      <Suspense fallback={null}>
        <Palette
          asked={asked}
          words={words}
          onWords={setWords}
          onReady={() => setReady(asked)}
          onClose={giveBack}
        />
      </Suspense>
    </>
  )
}
