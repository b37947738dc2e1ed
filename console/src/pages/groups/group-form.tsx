import { Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { channelNamesQuery, type GroupRow, groupQuery, modelNamesQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { useMay } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { type FieldGroup, SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { budgetFields, limitFields } from '../access/bound-fields.ts'

/** Every setting of a group that the API takes, for the JSON of the form. */
export const groupSettings = [
  'name',
  'description',
  'public',
  'models',
  'channels',
  'price_multiplier',
  'image_priority',
  'capture_answers',
  'responses',
  'client_gone',
  'limits',
  'total_limits',
  'budget',
] as const

export function groupFields(models: readonly string[], channels: readonly string[]): FieldGroup[] {
  return [
    {
      title: 'What it is',
      fields: [
        { path: 'name', label: 'Name', kind: 'text', required: true, placeholder: 'production' },
        { path: 'description', label: 'Description', kind: 'words', about: 'For people' },
      ],
    },
    {
      title: 'What its keys may use',
      fields: [
        {
          path: 'models',
          label: 'Models',
          kind: 'tags',
          about: 'Empty or *: all',
          suggestions: ['*', ...models],
        },
        {
          path: 'channels',
          label: 'Channels',
          kind: 'tags',
          about: 'Empty or *: all',
          suggestions: ['*', ...channels],
        },
        {
          path: 'price_multiplier',
          label: 'Price multiplier',
          kind: 'text',
          about: 'Prices times this',
          placeholder: '1',
        },
        {
          path: 'image_priority',
          label: 'Priority of image jobs',
          kind: 'integer',
          about: '0 to 100, higher goes first',
        },
        { path: 'public', label: 'Public: everybody sees its models and prices', kind: 'switch' },
      ],
    },
    {
      title: 'Limits of each key',
      about: 'For keys without limits of their own. Empty: unbounded.',
      fields: limitFields('limits'),
    },
    {
      title: 'Limits of all its keys together',
      about: 'Of all tenants. Empty: unbounded.',
      fields: limitFields('total_limits'),
    },
    {
      title: 'Budget of all its keys together',
      about: 'In USD. Days and months are those of UTC. Empty: no bound.',
      fields: budgetFields('Sums up the whole log first'),
    },
    {
      title: 'What is kept, and more',
      fields: [
        { path: 'capture_answers', label: 'Keep answers in the log', kind: 'switch' },
        { path: 'responses.store', label: 'Keep answers for later requests', kind: 'switch' },
        { path: 'responses.days', label: 'Days to keep them', kind: 'integer', placeholder: '30' },
        {
          path: 'responses.compact_model',
          label: 'Model that sums up conversations',
          kind: 'text',
          about: "Empty: the client's",
        },
        {
          path: 'client_gone.policy',
          label: 'When a client leaves',
          kind: 'choice',
          options: [
            { value: '', label: 'Read on (default)' },
            { value: 'drain', label: 'Read on' },
            { value: 'abort', label: 'End the call' },
          ],
        },
        { path: 'client_gone.seconds', label: 'Seconds to read on', kind: 'integer', placeholder: '30' },
        {
          path: 'client_gone.unseen',
          label: 'When it leaves before the answer, money is',
          kind: 'choice',
          options: [
            { value: '', label: 'Charged by an estimate (default)' },
            { value: 'estimate', label: 'Charged by an estimate' },
            { value: 'hold', label: 'Held first, then charged' },
          ],
          about: 'Where money is limited',
        },
      ],
    },
  ]
}

function useFields(): FieldGroup[] {
  const may = useMay()
  const models = useQuery({ ...modelNamesQuery, enabled: may('catalog') })
  const channels = useQuery({ ...channelNamesQuery, enabled: may('catalog') })
  return groupFields(models.data ?? [], channels.data ?? [])
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
      names={groupSettings}
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
    <Modal opened={opened} onClose={onClose} size="xl" title="Make a group" closeOnClickOutside={false}>
      <GroupForm
        onCancel={onClose}
        onMade={({ id }) => {
          onClose()
          void navigate({ to: '/console/groups/$id', params: { id } })
        }}
      />
    </Modal>
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
    <Modal opened={opened} onClose={onClose} size="xl" title={`Edit ${of.name}`} closeOnClickOutside={false}>
      <SettingsForm
        groups={fields}
        editing={editing}
        names={groupSettings}
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
    </Modal>
  )
}
