import { Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Editing } from '../api/editing.ts'
import type { IfMatch } from '../api/tagged.ts'
import { ChangeProblem } from './change-problem.tsx'

/** Before something that can be undone, or that touches one thing only: says what will happen. `verb` is the button. */
export function AskFirst({
  opened,
  onClose,
  verb,
  isBad = false,
  editing,
  act,
  children,
}: {
  opened: boolean
  onClose(): void
  verb: string
  isBad?: boolean
  /** Of what it changes, for the `header` of `act`. A second press goes on from what stands then. */
  editing?: Editing<unknown>
  act(header: IfMatch): Promise<void>
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
      <Stack gap={12}>
        <div>{children}</div>
        <ChangeProblem error={error} editing={editing} doing={verb} />
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
