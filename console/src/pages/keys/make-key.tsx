import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { MadeKey } from '../../api/access-queries.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { ImportKeyForm, KeyForm } from './key-form.tsx'
import { SecretOnce } from './secret-once.tsx'

/**
 * The dialog that makes a key, and then shows its secret, with which it closes by its button alone.
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
    <FormModal
      opened={opened}
      onClose={close}
      size="xl"
      title={made === undefined ? 'Make a key' : `The secret of ${made.name}`}
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
    </FormModal>
  )
}

/** The dialog that takes over a key from elsewhere. */
export function ImportKey({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const navigate = useNavigate()
  return (
    <FormModal opened={opened} onClose={onClose} size="xl" title="Import a key">
      <ImportKeyForm
        onCancel={onClose}
        onMade={({ id }) => {
          onClose()
          void navigate({ to: '/console/keys/$id', params: { id } })
        }}
      />
    </FormModal>
  )
}
