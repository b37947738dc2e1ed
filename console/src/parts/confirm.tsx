import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { Editing } from '../api/editing.ts'
import type { IfMatch } from '../api/tagged.ts'
import { ChangeProblem } from './change-problem.tsx'

/**
 * Before something that cannot be undone: says what will happen, and is confirmed by typing the name. `verb` is the button:
 * "Revoke key". `act` does it; while it fails the dialog stays, with the reason.
 */
export function ConfirmByName({
  opened,
  onClose,
  verb,
  name,
  editing,
  act,
  children,
}: {
  opened: boolean
  onClose(): void
  verb: string
  name: string
  /** Of what it changes, for the `header` of `act`. A second press goes on from what stands then. */
  editing?: Editing<unknown>
  act(header: IfMatch): Promise<void>
  children: ReactNode
}) {
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const isRight = typed.trim() === name
  const close = () => {
    setTyped('')
    setError(undefined)
    onClose()
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!isRight || isBusy) return
    setBusy(true)
    setError(undefined)
    try {
      await (editing === undefined ? act({}) : editing.change(act, true))
      close()
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal opened={opened} onClose={close} title={`${verb}?`} size="md">
      <form onSubmit={(event) => void submit(event)}>
        <Stack gap={12}>
          <div>{children}</div>
          <TextInput
            label={`Type ${name} to go on`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          <ChangeProblem error={error} editing={editing} doing={verb} />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={close}>
              Keep it
            </Button>
            <Button type="submit" color="red" disabled={!isRight} loading={isBusy}>
              {verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
