import { forms } from 'virtual:settings'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { channelNamesQuery, type GroupRow, groupQuery, modelNamesQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { useMay } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { type FieldGroup, SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { sectionsOf } from '../access/setting-sections.ts'

const nameField = {
  path: 'name',
  label: 'Name',
  kind: 'text',
  required: true,
  placeholder: 'production',
} as const

function useFields(): FieldGroup[] {
  const may = useMay()
  const models = useQuery({ ...modelNamesQuery, enabled: may('catalog') })
  const channels = useQuery({ ...channelNamesQuery, enabled: may('catalog') })
  return sectionsOf('group', [nameField], {
    models: ['*', ...(models.data ?? [])],
    channels: ['*', ...(channels.data ?? [])],
  })
}

/** What a group must say: its name, and what its keys may use. */
const briefFields: ReadonlySet<string> = new Set(['name', 'models', 'channels'])

/** Makes a group. `isBrief`: the rest keeps its defaults. */
export function GroupForm({
  isBrief = false,
  preset,
  onMade,
  onCancel,
}: {
  isBrief?: boolean
  /** What the fields begin with. */
  preset?: { name: string; models: string[]; channels: string[] }
  onMade(group: GroupRow): void
  onCancel?(): void
}) {
  const queryClient = useQueryClient()
  const all = useFields()
  const brief = all
    .map((group) => ({ ...group, fields: group.fields.filter(({ path }) => briefFields.has(path)) }))
    .filter(({ fields }) => fields.length > 0)
  return (
    <SettingsForm
      groups={isBrief ? brief : all}
      {...(preset === undefined ? {} : { preset })}
      names={forms.group.names}
      verb="Make group"
      isBrief={isBrief}
      {...(onCancel === undefined ? {} : { onCancel })}
      save={async (body) => {
        // A switch that is off is the default: sent alone it would set its whole map.
        if (JSON.stringify(body.responses) === '{"store":false}') delete body.responses
        const made = await ask(api.POST('/admin/v1/groups', { body: body as Schema<'NewGroup'> }))
        void queryClient.invalidateQueries({ queryKey: ['groups'] })
        done(`Group ${made.name} is made`)
        onMade(made)
      }}
    />
  )
}

export function MakeGroup({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const navigate = useNavigate()
  return (
    <FormModal opened={opened} onClose={onClose} size="xl" title="Make a group">
      <GroupForm
        onCancel={onClose}
        onMade={({ id }) => {
          onClose()
          void navigate({ to: '/console/groups/$id', params: { id } })
        }}
      />
    </FormModal>
  )
}

export function EditGroup({
  of: newest,
  opened,
  onClose,
}: {
  of: Tagged<GroupRow>
  opened: boolean
  onClose(): void
}) {
  const queryClient = useQueryClient()
  const editing = useEditingOf(groupQuery(newest.data.id), newest)
  const of = editing.base
  const fields = useFields()
  return (
    <FormModal opened={opened} onClose={onClose} size="xl" title={`Edit ${of.name}`}>
      <SettingsForm
        groups={fields}
        editing={editing}
        names={forms.group.names}
        verb="Save group"
        onCancel={onClose}
        save={async (patch, header) => {
          if (Object.keys(patch).length > 0) {
            await ask(
              api.PATCH('/admin/v1/groups/{id}', {
                params: { path: { id: of.id }, header },
                body: patch as Schema<'GroupChange'>,
              }),
            )
            await queryClient.invalidateQueries({ queryKey: groupQuery(of.id).queryKey })
            void queryClient.invalidateQueries({ queryKey: ['groups'] })
          }
          done(`Group ${of.name} is saved`)
          onClose()
        }}
      />
    </FormModal>
  )
}
