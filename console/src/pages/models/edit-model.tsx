import { forms } from 'virtual:settings'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { modelNamesQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { sectionsOf } from '../access/setting-sections.ts'
import { useModelEditing } from './model-query.ts'

/** The form of a model. Its price has its own, and its traits are in the JSON. */
export const modelGroups = (models: readonly string[]) => sectionsOf('model', [], { models })

/** Changes the settings of a model. */
export function EditModel({
  of: newest,
  onClose,
}: {
  of: Tagged<Schema<'AdminModelDetails'>>
  onClose(): void
}) {
  const queries = useQueryClient()
  const names = useQuery(modelNamesQuery)
  const editing = useModelEditing(newest, true)
  const { id } = editing.base
  return (
    <FormModal opened onClose={onClose} size="lg" title={`Edit ${id}`}>
      <SettingsForm
        groups={modelGroups((names.data ?? []).filter((name) => name !== id && name !== '*'))}
        editing={editing}
        names={forms.model.names}
        verb="Save the model"
        onCancel={onClose}
        save={async (body, header) => {
          if (Object.keys(body).length > 0) {
            await ask(api.PATCH('/admin/v1/models/{id}', { params: { path: { id }, header }, body }))
            await queries.invalidateQueries({ queryKey: ['models'] })
          }
          done(`Model ${id} is saved`)
          onClose()
        }}
      />
    </FormModal>
  )
}
