import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Editing } from '../api/editing.ts'
import type { IfMatch } from '../api/tagged.ts'
import { ChangeProblem } from './change-problem.tsx'

/**
 * Says what will happen, before it does. `verb` is the button: "Revoke key". What cannot be undone is
 * confirmed by typing its `name`. While `act` fails the dialog stays, with the reason.
 */
export function AskFirst({
  opened,
  onClose,
  verb,
  name,
  isBad = name !== undefined,
  isReady = true,
  editing,
  act,
  children,
}: {
  opened: boolean
  onClose(): void
  verb: string
  name?: string
  isBad?: boolean
  /** False: a field of `children` is not filled in yet. */
  isReady?: boolean
  /** Of what it changes, for the `header` of `act`. A second press goes on from the state at that moment. */
  editing?: Editing<unknown>
  act(header: IfMatch): Promise<void>
  children: ReactNode
}) {
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const isRight = isReady && (name === undefined || typed.trim() === name)
  const close = () => {
    setTyped('')
    setError(undefined)
    onClose()
  }
  const go = async () => {
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
  const content = (
    <Stack gap={12}>
      <div>{children}</div>
      {name === undefined ? null : (
        <TextInput
          label={`Type ${name} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      )}
      <ChangeProblem error={error} editing={editing} doing={verb} />
      <Group justify="flex-end" gap={8}>
        <Button variant="default" onClick={close} data-autofocus={name === undefined || undefined}>
          Cancel
        </Button>
        <Button
          disabled={!isRight}
          loading={isBusy}
          {...(isBad ? { color: 'red.9' } : {})}
          {...(name === undefined ? { onClick: () => void go() } : { type: 'submit' })}
        >
          {verb}
        </Button>
      </Group>
    </Stack>
  )
  return (
    <Modal opened={opened} onClose={close} title={`${verb}?`} size="md">
      {name === undefined ? (
        content
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void go()
          }}
        >
          {content}
        </form>
      )}
    </Modal>
  )
}
