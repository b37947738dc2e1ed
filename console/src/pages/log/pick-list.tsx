import { Combobox, TextInput, type TextInputProps, useCombobox } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import classes from './pick-list.module.css'

export interface Pick {
  value: string
  /** Beside the value. */
  about?: string
}

/**
 * A field with what can be picked below it, in the flow of the page, so that it covers nothing. Arrows go
 * through the list and Enter picks; a first Enter without them picks only where `takesFirst`.
 */
export function PickList({
  picks,
  onPick,
  value,
  onChange,
  takesFirst = false,
  none,
  ...field
}: {
  picks: readonly Pick[]
  onPick(value: string): void
  value: string
  onChange(value: string): void
  takesFirst?: boolean
  /** Where nothing fits what is typed. */
  none?: string
} & Omit<TextInputProps, 'value' | 'onChange'>) {
  const list = useId()
  const input = useRef<HTMLInputElement>(null)
  const store = useCombobox({ opened: true })
  const { resetSelectedOption, selectFirstOption } = store
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen in a former list means nothing in the next
  useEffect(() => {
    resetSelectedOption()
    if (takesFirst) selectFirstOption()
  }, [picks.length, value, takesFirst])
  useEffect(() => input.current?.focus(), [])
  return (
    <Combobox store={store} onOptionSubmit={onPick}>
      <Combobox.EventsTarget
        withExpandedAttribute
        aria-expanded
        aria-controls={list}
        {...useActivePick(list, value)}
      >
        <TextInput
          {...field}
          classNames={{ description: classes.about ?? '' }}
          ref={input}
          data-autofocus
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <Combobox.Options id={list} className={classes.list ?? ''} aria-label={field['aria-label']}>
        <Picks picks={picks} />
        {picks.length === 0 && none !== undefined ? <Combobox.Empty>{none}</Combobox.Empty> : null}
      </Combobox.Options>
    </Combobox>
  )
}

/**
 * For the target of a combobox: which option the reader is at. Mantine's own goes on to name one that has
 * left the list since.
 */
export function useActivePick(list: string, typed: string) {
  const [active, setActive] = useState<{ id: string | undefined; typed: string }>()
  return {
    // Not undefined: Mantine would take its own.
    'aria-activedescendant': active?.typed === typed ? (active.id ?? null) : null,
    onKeyUp: () => {
      const option = document.getElementById(list)?.querySelector('[data-combobox-selected]')
      setActive({ id: option?.id, typed })
    },
  }
}

/** The options of a list. */
export function Picks({ picks }: { picks: readonly Pick[] }) {
  return picks.map(({ value, about }) => (
    <Combobox.Option key={value} value={value} className={classes.pick ?? ''}>
      <span>{value}</span>
      {about === undefined ? null : <span className="tg-quiet">{about}</span>}
    </Combobox.Option>
  ))
}
