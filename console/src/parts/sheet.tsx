import { ActionIcon, Tooltip } from '@mantine/core'
import { XIcon } from '@primer/octicons-react'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './sheet.module.css'
import { isTyping } from './typing.ts'

/**
 * Stands beside a grid, which stays in use. Its address is that of the row that it shows. `Esc` closes it.
 */
export function Sheet({
  title,
  actions,
  onClose,
  children,
}: {
  title: ReactNode
  actions?: ReactNode
  onClose(): void
  children: ReactNode
}) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || isTyping(event)) return
      if (document.querySelector('[role=dialog][aria-modal=true], [role=menu], [role=listbox]') === null)
        onClose()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [onClose])
  return (
    <aside className={classes.sheet} aria-label="The row that is open">
      <header className={classes.head}>
        <h2>{title}</h2>
        <Tooltip label="Close (Esc)">
          <ActionIcon aria-label="Close" onClick={onClose}>
            <XIcon size={16} />
          </ActionIcon>
        </Tooltip>
        {actions === undefined ? null : <div className={classes.actions}>{actions}</div>}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable */}
      <div className={classes.body} tabIndex={0}>
        {children}
      </div>
    </aside>
  )
}

/** A grid with a sheet at its side. A sheet that closes with the keyboard in it gives it back to the grid. */
export function WithSheet({ children, sheet }: { children: ReactNode; sheet: ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const isOpen = sheet !== null && sheet !== undefined
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body)
      place.current?.querySelector<HTMLElement>('[role=grid]')?.focus({ preventScroll: true })
    wasOpen.current = isOpen
  }, [isOpen])
  return (
    <div className={classes.split}>
      <div className={classes.grid} ref={place}>
        {children}
      </div>
      {sheet}
    </div>
  )
}
