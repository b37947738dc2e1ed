import { Button, Group, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Editing } from '../api/editing.ts'
import classes from './change-form.module.css'
import { ChangeProblem } from './change-problem.tsx'

/**
 * A form of its own fields, whose change goes through `useEditing`. Under the fields stands what went wrong,
 * and the button, which stays in sight while the fields scroll. The first wrong field gets the focus.
 */
export function ChangeForm<Data>({
  save,
  send,
  editing,
  verb,
  yours,
  onTake,
  hidesProblem = false,
  check,
  disabled = false,
  beside,
  children,
}: {
  /** The mutation that `send` starts. */
  save: { error: unknown; isPending: boolean; reset(): void }
  send(): void
  /** Undefined: something new is made. */
  editing: Editing<Data> | undefined
  verb: string
  /** What the user wants, as the API has it. */
  yours?: unknown
  /**
   * Takes over the current state: `keeps` with what was typed, else without. Absent: nothing of the form can
   * differ.
   */
  onTake?: (keeps: boolean) => void
  /** The fields themselves show what is wrong. */
  hidesProblem?: boolean
  /** False: the fields show what is missing. Absent: the browser tells what is required. */
  check?: () => boolean
  /** There is nothing to send. */
  disabled?: boolean
  /** A button at the other end. */
  beside?: ReactNode
  children: ReactNode
}) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (save.error !== null && save.error !== undefined) focusWrong(form.current)
  }, [save.error])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (check?.() === false) focusWrong(form.current)
    else send()
  }
  const take = (keeps: boolean) => {
    onTake?.(keeps)
    save.reset()
    editing?.goOn()
  }
  return (
    <form ref={form} onSubmit={submit} noValidate={check !== undefined}>
      <Stack gap={12}>
        {children}
        {hidesProblem ? null : (
          <ChangeProblem
            error={save.error}
            editing={editing}
            doing={verb}
            yours={yours}
            onGoOn={() => take(true)}
            {...(onTake === undefined ? {} : { onDrop: () => take(false) })}
          />
        )}
        <Group className={classes.foot ?? ''} justify={beside === undefined ? 'flex-end' : 'space-between'}>
          {beside}
          <Button type="submit" loading={save.isPending} disabled={disabled}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Once the error is drawn. */
function focusWrong(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const field = form?.querySelector<HTMLElement>('[aria-invalid=true]')
    field?.focus({ preventScroll: true })
    // The heads of dialogs cover what stands at their edge.
    field?.scrollIntoView({ block: 'center' })
  })
}
