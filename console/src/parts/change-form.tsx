import { Button, Group, Stack } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import type { Editing } from '../api/editing.ts'
import { ChangeProblem } from './change-problem.tsx'

/**
 * A form of its own fields, whose change goes through `useEditing`. Under the fields stands what went wrong,
 * and the button.
 */
export function ChangeForm<Data>({
  save,
  send,
  editing,
  verb,
  yours,
  onTake,
  hidesProblem = false,
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
  /** A button at the other end. */
  beside?: ReactNode
  children: ReactNode
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send()
  }
  const take = (keeps: boolean) => {
    onTake?.(keeps)
    save.reset()
    editing?.goOn()
  }
  return (
    <form onSubmit={submit}>
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
        <Group justify={beside === undefined ? 'flex-end' : 'space-between'}>
          {beside}
          <Button type="submit" loading={save.isPending}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
