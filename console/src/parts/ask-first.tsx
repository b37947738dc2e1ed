import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Problem } from './problem.tsx'

/** Before something that can be undone, or that touches one thing only: says what will happen. `verb` is the button. */
export function AskFirst({
  opened,
  onClose,
  verb,
  isBad = false,
  act,
  children,
}: {
  opened: boolean
  onClose(): void
  verb: string
  isBad?: boolean
  act(): Promise<void>
  children: ReactNode
}) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const close = () => {
    setError(undefined)
    onClose()
  }
  const go = async () => {
    if (isBusy) return
    setBusy(true)
    setError(undefined)
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
      <Stack gap={12}>
        <div>{children}</div>
        {error === undefined ? null : <Problem error={error} doing={verb} />}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={close} data-autofocus>
            Keep it
          </Button>
          <Button onClick={() => void go()} loading={isBusy} {...(isBad ? { color: 'red' } : {})}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
