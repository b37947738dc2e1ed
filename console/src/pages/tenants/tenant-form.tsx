import { forms } from 'virtual:settings'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Tenant, tenantQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { newId } from '../../api/new-id.ts'
import type { Tagged } from '../../api/tagged.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { type FieldGroup, SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { saidSaved } from '../access/saved.ts'
import { sectionsOf } from '../access/setting-sections.ts'

function groupsOf(takesBalance: boolean): FieldGroup[] {
  return sectionsOf('tenant', [
    { path: 'name', label: 'Name', kind: 'text', required: true, placeholder: 'acme' },
    ...(takesBalance
      ? [
          {
            path: 'balance_usd',
            label: 'Prepaid balance',
            kind: 'usd' as const,
            about: 'Leave empty for no limit.',
          },
        ]
      : []),
  ])
}

/** Makes a tenant. `isBrief`: only who pays is asked. */
export function TenantForm({
  isBrief = false,
  name,
  onMade,
  onCancel,
}: {
  isBrief?: boolean
  /** What the field begins with. */
  name?: string
  onMade(tenant: Tenant): void
  onCancel?(): void
}) {
  const queryClient = useQueryClient()
  const [id, setId] = useState(newId)
  const groups = groupsOf(true)
  return (
    <SettingsForm
      groups={isBrief ? groups.slice(0, 1) : groups}
      {...(name === undefined ? {} : { preset: { name } })}
      names={[...forms.tenant.names, 'balance_usd']}
      verb="Make tenant"
      isBrief={isBrief}
      {...(onCancel === undefined ? {} : { onCancel })}
      save={async (body) => {
        try {
          const made = await ask(
            api.POST('/admin/v1/tenants', {
              params: { header: { 'idempotency-key': id } },
              body: body as Schema<'NewTenant'>,
            }),
          )
          void queryClient.invalidateQueries({ queryKey: ['tenants'] })
          done(`Tenant ${made.name} is made`)
          onMade(made)
        } finally {
          setId(newId())
        }
      }}
    />
  )
}

export function MakeTenant({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const navigate = useNavigate()
  return (
    <FormModal opened={opened} onClose={onClose} size="lg" title="Make a tenant">
      <TenantForm
        onCancel={onClose}
        onMade={({ id }) => {
          onClose()
          void navigate({ to: '/console/tenants/$id', params: { id } })
        }}
      />
    </FormModal>
  )
}

export function EditTenant({
  of: newest,
  opened,
  onClose,
}: {
  of: Tagged<Tenant>
  opened: boolean
  onClose(): void
}) {
  const queryClient = useQueryClient()
  const editing = useEditingOf(tenantQuery(newest.data.id), newest)
  const of = editing.base
  return (
    <FormModal opened={opened} onClose={onClose} size="lg" title={`Edit ${of.name}`}>
      <SettingsForm
        groups={groupsOf(!of.limited)}
        editing={editing}
        names={forms.tenant.names}
        verb="Save tenant"
        onCancel={onClose}
        save={async (patch, header) => {
          if (Object.keys(patch).length > 0) {
            await ask(
              api.PATCH('/admin/v1/tenants/{id}', {
                params: { path: { id: of.id }, header },
                body: patch as Schema<'TenantChange'>,
              }),
            )
            await queryClient.invalidateQueries({ queryKey: tenantQuery(of.id).queryKey })
            void queryClient.invalidateQueries({ queryKey: ['tenants'] })
          }
          await saidSaved(queryClient, {
            of: 'tenant',
            id: of.id,
            words: `Tenant ${of.name} is saved`,
            patch,
          })
          onClose()
        }}
      />
    </FormModal>
  )
}
