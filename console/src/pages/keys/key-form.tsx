import { forms } from 'virtual:settings'
import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import {
  groupNamesQuery,
  type Key,
  keyQuery,
  type MadeKey,
  tenantNamesQuery,
} from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { newId } from '../../api/new-id.ts'
import { useModelNames, useOwnModels } from '../../api/own-models.ts'
import { useSession } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import type { JsonObject } from '../../parts/fields.ts'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { done } from '../../parts/toast.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { saidSaved } from '../access/saved.ts'
import { keyFields } from './key-fields.ts'

const { names } = forms.key

/**
 * Makes a key. `tenant` (id or name): the tenant is not asked for. `onMade` gets the key with its secret,
 * which must be shown then: `SecretOnce` does. The form sends one Idempotency-Key, so that a second click
 * makes no second key. `isBrief`: only who it is is asked.
 */
export function KeyForm({
  tenant,
  group,
  name,
  payer,
  isBrief = false,
  onMade,
  onCancel,
}: {
  tenant?: string
  group?: string
  /** The tenant that the field begins with. */
  payer?: string
  isBrief?: boolean
  /** What the field begins with. */
  name?: string
  onMade(made: MadeKey): void
  onCancel?(): void
}) {
  const session = useSession()
  const queryClient = useQueryClient()
  const own = tenant ?? session.tenant_id ?? undefined
  const choices = useChoices(own === undefined)
  const [id, setId] = useState(newId)
  if (choices === undefined) return <Waiting rows={6} />
  const { tenants, ...others } = choices
  if (others.isGroupNeeded && others.groups.length === 0) return <NoGroup onClose={onCancel} />
  const groups = keyFields({ ...others, ...(own === undefined ? { tenants } : {}), isNew: true })
  const first = payer ?? (tenants.length === 1 ? tenants[0] : undefined)
  return (
    <SettingsForm
      groups={isBrief ? groups.slice(0, 1) : groups}
      preset={{
        name,
        group: group ?? (others.isGroupNeeded ? others.groups[0] : undefined),
        ...(own === undefined && first !== undefined ? { tenant: first } : {}),
      }}
      names={own === undefined ? ['tenant', ...names] : names}
      verb="Make key"
      isBrief={isBrief}
      {...(onCancel === undefined ? {} : { onCancel })}
      save={async (body) => {
        try {
          const made = await ask(
            api.POST('/admin/v1/keys', {
              params: { header: { 'idempotency-key': id } },
              body: { ...(own === undefined ? {} : { tenant: own }), ...body } as Schema<'NewKey'>,
            }),
          )
          void queryClient.invalidateQueries({ queryKey: ['keys'] })
          onMade(made)
        } catch (error) {
          // Another body under the same Idempotency-Key would be refused.
          if (isAnswered(error)) setId(newId())
          throw error
        }
      }}
    />
  )
}

/** Takes over a key with the secret that it has elsewhere. */
export function ImportKeyForm({ onMade, onCancel }: { onMade(key: Key): void; onCancel(): void }) {
  const queryClient = useQueryClient()
  const choices = useChoices(true)
  if (choices === undefined) return <Waiting rows={6} />
  return (
    <SettingsForm
      groups={keyFields({ ...choices, isImport: true, isNew: true })}
      names={['tenant', 'secret', ...names]}
      verb="Import key"
      onCancel={onCancel}
      save={async (body) => {
        const key = await ask(api.POST('/admin/v1/keys/import', { body: body as Schema<'ImportedKey'> }))
        void queryClient.invalidateQueries({ queryKey: ['keys'] })
        done(`Key ${key.name} is imported`)
        onMade(key)
      }}
    />
  )
}

/** Changes what a key may. */
export function EditKeyForm({
  of: newest,
  onDone,
  onCancel,
}: {
  of: Tagged<Key>
  onDone(): void
  onCancel(): void
}) {
  const queryClient = useQueryClient()
  const editing = useEditingOf(keyQuery(newest.data.id), newest)
  const of = editing.base
  const choices = useChoices(false)
  if (choices === undefined) return <Waiting rows={6} />
  const groups = choices.groups.includes(of.group) ? choices.groups : [of.group, ...choices.groups]
  return (
    <SettingsForm
      groups={keyFields({
        groups,
        models: choices.models,
        isGroupNeeded: choices.isGroupNeeded,
        isNew: false,
      })}
      editing={editing}
      names={names}
      verb="Save key"
      onCancel={onCancel}
      save={async (patch: JsonObject, header) => {
        if (Object.keys(patch).length > 0) {
          await ask(
            api.PATCH('/admin/v1/keys/{id}', {
              params: { path: { id: of.id }, header },
              body: patch as Schema<'KeyChange'>,
            }),
          )
          await queryClient.invalidateQueries({ queryKey: keyQuery(of.id).queryKey })
          void queryClient.invalidateQueries({ queryKey: ['keys'] })
        }
        await saidSaved(queryClient, { of: 'key', id: of.id, words: `Key ${of.name} is saved`, patch })
        onDone()
      }}
    />
  )
}

/** A member cannot make the first key of its tenant: where one is says in which group the others may be. */
function NoGroup({ onClose }: { onClose: (() => void) | undefined }) {
  return (
    <EmptyState
      title="An admin makes the first key"
      action={
        onClose === undefined ? undefined : (
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        )
      }
    >
      Your tenant has no key yet whose group you could use. Ask an admin of the gateway to make a key for your
      tenant, in the group with the models that you need. You can then make others in that group.
    </EmptyState>
  )
}

interface Choices {
  tenants: readonly string[]
  groups: readonly string[]
  models: readonly string[]
  /** The default group is none of them. */
  isGroupNeeded: boolean
}

/**
 * What a field may offer. A member may not list groups: those that keys of its tenant are in are the ones
 * that it may use. Undefined: not read yet. What cannot be read is not offered; the JSON takes it all the
 * same.
 */
function useChoices(needsTenants: boolean): Choices | undefined {
  const isMember = useSession().role === 'member'
  const tenants = useQuery({ ...tenantNamesQuery, enabled: needsTenants })
  const groups = useQuery({ ...groupNamesQuery, enabled: !isMember })
  const own = useOwnModels()
  const models = useModelNames()
  const isWaiting = [tenants, groups, own, models].some(({ isLoading }) => isLoading)
  return useMemo(
    () =>
      isWaiting
        ? undefined
        : {
            tenants: tenants.data?.data.map(({ name }) => name) ?? [],
            groups: (isMember ? own.data?.groups : groups.data?.data)?.map(({ name }) => name) ?? [],
            models: models.names,
            // What could not be read is no reason to keep the form shut.
            isGroupNeeded: isMember && own.data !== undefined,
          },
    [isWaiting, isMember, tenants.data, own.data, groups.data, models.names],
  )
}

function isAnswered(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status !== 0
}
