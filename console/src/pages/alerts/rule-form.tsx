import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { tenantNamesQuery } from '../../api/access-queries.ts'
import { ApiError, api, ask } from '../../api/client.ts'
import type { Editing } from '../../api/editing.ts'
import { useSession } from '../../api/session.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { done } from '../../parts/toast.tsx'
import classes from './alerts.module.css'
import type { Rule } from './alerts-query.ts'
import { bodyOf, draftFaults, type RuleDraft, useRuleDraft } from './rule-draft.ts'
import { RuleField } from './rule-field.tsx'
import { conditionOf, fieldsOf, type Kind, kindsFor } from './rule-fields.ts'
import { WebhookAddress, wrapperOrder } from './webhook-fields.tsx'

interface RuleFormProps {
  /** Of the rule that is changed; absent: a new one is made. */
  editing?: Editing<Rule>
  /** It gets the secret of a new webhook that checks signatures, which is shown once. */
  onDone(secret: string | undefined): void
}

/** Makes a rule, or changes one. */
export function RuleForm(props: RuleFormProps) {
  const { editing } = props
  const rule = editing?.base
  const isMember = useSession().role === 'member'
  const { draft, change, chooseKind, chooseTenant, takeNow } = useRuleDraft(editing, isMember)
  const { name, tenant, kind, values, seconds } = draft
  const isOfTenant = isMember || tenant !== null
  const save = useSave(draft, props)
  const wrong = save.error instanceof ApiError ? save.error.fields : []
  const [isTried, setTried] = useState(false)
  const faults = isTried ? draftFaults(draft) : {}
  const errorAt = (path: string) =>
    faults[path] ?? wrong.find(({ pointer }) => pointer === `#/${path}`)?.detail
  const hasPlace = wrong.some(({ pointer }) => /^#\/(name|condition\/|webhook|resolve)/.test(pointer))
  return (
    <ChangeForm
      save={save}
      send={save.mutate}
      editing={editing}
      verb={rule === undefined ? 'Create rule' : 'Save rule'}
      yours={{ name, condition: conditionOf(kind, values), resolve_after_seconds: seconds }}
      onTake={takeNow}
      hidesProblem={hasPlace}
      check={() => {
        setTried(true)
        return Object.keys(draftFaults(draft)).length === 0
      }}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        error={errorAt('name')}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      {isMember || rule !== undefined ? null : <WatchedTenant tenant={tenant} onChoose={chooseTenant} />}
      <Select
        label="Condition"
        disabled={rule !== undefined}
        allowDeselect={false}
        data={kindsFor(isOfTenant).map((one) => ({ value: one.kind, label: one.title }))}
        value={kind}
        onChange={(chosen) => chooseKind((chosen ?? 'error_rate') as Kind)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12} className={classes.fields ?? ''}>
        {fieldsOf(kind, values).map((field) => (
          <RuleField
            key={field.name}
            field={field}
            isOfTenant={isOfTenant}
            values={values}
            error={errorAt(`condition/${field.name}`)}
            onChange={(value) => change({ values: { ...values, [field.name]: value } })}
          />
        ))}
        <NumberInput
          label="Resolve after (seconds)"
          inputWrapperOrder={wrapperOrder}
          description="Closes once the condition was not true for this long."
          clampBehavior="none"
          hideControls
          value={seconds}
          error={errorAt('resolve_after_seconds')}
          onChange={(next) => change({ seconds: next })}
        />
      </SimpleGrid>
      <WebhookFields
        rule={rule}
        draft={draft}
        error={errorAt('webhook/url') ?? errorAt('webhook')}
        onChange={change}
      />
    </ChangeForm>
  )
}

function useSave(draft: RuleDraft, { editing, onDone }: RuleFormProps) {
  const queries = useQueryClient()
  const { name, tenant, isEnabled } = draft
  return useMutation({
    mutationFn: async (): Promise<string | undefined> => {
      const body = bodyOf(draft)
      const saved =
        editing === undefined
          ? await ask(
              api.POST('/admin/v1/alerts', {
                body: { ...body, enabled: isEnabled, ...(tenant === null ? {} : { tenant_id: tenant }) },
              }),
            )
          : await editing.change((header) =>
              ask(
                api.PATCH('/admin/v1/alerts/{id}', {
                  params: { path: { id: editing.base.id }, header },
                  body,
                }),
              ),
            )
      // Slack and Teams check no signature.
      return saved.webhook?.format === 'tollgate' ? (saved.webhook_secret ?? undefined) : undefined
    },
    onSuccess: async (secret) => {
      done(editing === undefined ? `Rule ${name} created` : `Rule ${name} saved`)
      // Its next change needs the new ETag.
      await queries.invalidateQueries({ queryKey: ['alert-rules'] })
      onDone(secret)
    },
  })
}

function WatchedTenant({
  tenant,
  onChoose,
}: {
  tenant: string | null
  onChoose(tenant: string | null): void
}) {
  const tenants = useQuery(tenantNamesQuery)
  return (
    <Select
      label="Scope"
      description="Members of a tenant see its rules. Such a rule cannot watch what tenants share."
      searchable
      data={[
        { value: '', label: 'All tenants' },
        ...(tenants.data?.data ?? []).map(({ id, name }) => ({ value: id, label: `Tenant ${name}` })),
      ]}
      value={tenant ?? ''}
      onChange={(chosen) => onChoose(chosen === '' ? null : chosen)}
    />
  )
}

/** Who is told, and whether the rule is watched from now on or its webhook goes. */
function WebhookFields({
  rule,
  draft: { url, format, removesWebhook, isEnabled },
  error,
  onChange,
}: {
  rule: Rule | undefined
  draft: RuleDraft
  error: string | undefined
  onChange(part: Partial<RuleDraft>): void
}) {
  const host = rule?.webhook?.host
  return (
    <>
      {removesWebhook ? null : (
        <WebhookAddress url={url} format={format} host={host} error={error} onChange={onChange} />
      )}
      {rule === undefined ? (
        <Switch
          label="Enabled"
          checked={isEnabled}
          onChange={(event) => onChange({ isEnabled: event.currentTarget.checked })}
        />
      ) : host === undefined ? null : (
        <Switch
          label={`Remove the webhook to ${host}`}
          checked={removesWebhook}
          onChange={(event) => onChange({ removesWebhook: event.currentTarget.checked })}
        />
      )}
    </>
  )
}
