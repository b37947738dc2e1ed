import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Problem } from './problem.tsx'

/**
 * Before something that cannot be undone: says what will happen, and is confirmed by typing the name. `verb` is the button:
 * "Revoke key". `act` does it; while it fails the dialog stays, with the reason.
 */
export function ConfirmByName({
  opened,
  onClose,
  verb,
  name,
  act,
  children,
}: {
  opened: boolean
  onClose(): void
  verb: string
  name: string
  act(): Promise<void>
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
    try {
      await act()
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
          {error === undefined ? null : <Problem error={error} doing={verb} />}
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
