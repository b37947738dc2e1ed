import { Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { MadeKey } from '../../api/access-queries.ts'
import { ImportKeyForm, KeyForm } from './key-form.tsx'
import { SecretOnce } from './secret-once.tsx'

/**
 * The dialog that makes a key, and then shows its secret. A click beside it does not close it while the
 * secret is there.
 */
export function MakeKey({
  opened,
  onClose,
  tenant,
  group,
}: {
  opened: boolean
  onClose(): void
  tenant?: string
  group?: string
}) {
  const [made, setMade] = useState<MadeKey>()
  const close = () => {
    onClose()
    setMade(undefined)
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      size="xl"
      title={made === undefined ? 'Make a key' : `The secret of ${made.name}`}
      closeOnClickOutside={false}
      closeOnEscape={made === undefined}
      withCloseButton={made === undefined}
    >
      {made === undefined ? (
        <KeyForm
          onMade={setMade}
          onCancel={close}
          {...(tenant === undefined ? {} : { tenant })}
          {...(group === undefined ? {} : { group })}
        />
      ) : (
        <SecretOnce made={made} onClose={close} />
      )}
    </Modal>
  )
}

/** The dialog that takes over a key from elsewhere. */
export function ImportKey({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} size="xl" title="Import a key" closeOnClickOutside={false}>
      <ImportKeyForm
        onCancel={onClose}
        onMade={({ id }) => {
          onClose()
          void navigate({ to: '/console/keys/$id', params: { id } })
        }}
      />
    </Modal>
  )
}
