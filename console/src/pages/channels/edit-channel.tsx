import { forms } from 'virtual:settings'
import { Modal } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import type { FieldGroup } from '../../parts/settings-form.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { sectionsOf } from '../access/setting-sections.ts'
import { useChannelEditing } from './channels-query.ts'
import { formats, vendors } from './vendors.ts'

/** The form of a channel. Its credentials and models have their own, and its traits are in the JSON. */
export const channelGroups: readonly FieldGroup[] = sectionsOf('channel', [
  { path: 'name', label: 'Name', kind: 'text', required: true },
  {
    path: 'vendor',
    label: 'Vendor',
    kind: 'choice',
    about: 'What its models accept',
    options: [
      { value: '', label: 'As its base URLs say' },
      ...vendors.map(({ vendor, title }) => ({ value: vendor, label: title })),
    ],
  },
  {
    path: 'protocols',
    label: 'Base URLs',
    kind: 'pairs',
    one: 'base URL',
    about: 'By the format that the server speaks, as its SDK takes them',
    required: true,
    placeholder: 'https://api.example.com/v1',
    options: formats.map((format) => ({ value: format, label: format })),
  },
])

/** Changes the settings of a channel. */
export function EditChannel({ of: newest, onClose }: { of: Tagged<Schema<'Channel'>>; onClose(): void }) {
  const queries = useQueryClient()
  const editing = useChannelEditing(newest, true)
  const of = editing.base
  return (
    <Modal opened onClose={onClose} size="xl" title={`Edit ${of.name}`} closeOnClickOutside={false}>
      <SettingsForm
        groups={channelGroups}
        editing={editing}
        names={forms.channel.names}
        verb="Save the channel"
        onCancel={onClose}
        save={async (patch, header) => {
          if (Object.keys(patch).length > 0) {
            // A key without its certificate would be refused.
            const body = patch.cert === null ? { key: null, ...patch } : patch
            await ask(api.PATCH('/admin/v1/channels/{id}', { params: { path: { id: of.id }, header }, body }))
            await queries.invalidateQueries({ queryKey: ['channels'] })
          }
          done(`Channel ${of.name} is saved`)
          onClose()
        }}
      />
    </Modal>
  )
}
