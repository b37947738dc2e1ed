import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { tenantNamesQuery } from '../../api/access-queries.ts'
import { ApiError, api, ask } from '../../api/client.ts'
import type { Editing } from '../../api/editing.ts'
import { useSession } from '../../api/session.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { done } from '../../parts/toast.tsx'
import classes from './alerts.module.css'
import type { Rule } from './alerts-query.ts'
import { bodyOf, type RuleDraft, useRuleDraft } from './rule-draft.ts'
import { RuleField } from './rule-field.tsx'
import { conditionOf, fieldsOf, type Kind, kindsFor } from './rule-fields.ts'

interface RuleFormProps {
  /** Of the rule that is changed; absent: a new one is made. */
  editing?: Editing<Rule>
  /** It gets the secret of a new webhook, which is shown once. */
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
  const errorAt = (path: string) => wrong.find(({ pointer }) => pointer === `#/${path}`)?.detail
  const hasPlace = wrong.some(({ pointer }) => /^#\/(name|condition\/|webhook|resolve)/.test(pointer))
  return (
    <ChangeForm
      save={save}
      send={save.mutate}
      editing={editing}
      verb={rule === undefined ? 'Make the rule' : 'Save the rule'}
      yours={{ name, condition: conditionOf(kind, values), resolve_after_seconds: seconds }}
      onTake={takeNow}
      hidesProblem={hasPlace}
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
        label="It holds when"
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
            value={values[field.name] ?? ''}
            error={errorAt(`condition/${field.name}`)}
            onChange={(value) => change({ values: { ...values, [field.name]: value } })}
          />
        ))}
      </SimpleGrid>
      <NumberInput
        label="An episode ends after so many seconds without it"
        min={0}
        max={86_400}
        hideControls
        value={seconds}
        error={errorAt('resolve_after_seconds')}
        onChange={(next) => change({ seconds: next })}
      />
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
      return saved.webhook_secret ?? undefined
    },
    onSuccess: async (secret) => {
      done(editing === undefined ? `The rule ${name} is made` : `The rule ${name} is changed`)
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
      label="It watches"
      description="A rule of one tenant is seen by its members too. It cannot watch what tenants share."
      searchable
      data={[
        { value: '', label: 'All tenants' },
        ...(tenants.data?.data ?? []).map(({ id, name }) => ({ value: id, label: `The tenant ${name}` })),
      ]}
      value={tenant ?? ''}
      onChange={(chosen) => onChoose(chosen === '' ? null : chosen)}
    />
  )
}

/** Who is told, and whether the rule is watched from now on or its webhook goes. */
function WebhookFields({
  rule,
  draft: { url, removesWebhook, isEnabled },
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
        <TextInput
          label="Webhook"
          description={
            host === undefined
              ? 'An address that is told when an episode begins and ends. Empty: only the console shows it.'
              : `Now: ${host}. Empty: it stays. A new address gets a new secret.`
          }
          placeholder="https://hooks.example.com/tollgate"
          value={url}
          error={error}
          onChange={(event) => onChange({ url: event.currentTarget.value })}
        />
      )}
      {rule === undefined ? (
        <Switch
          label="Watch it from now on"
          checked={isEnabled}
          onChange={(event) => onChange({ isEnabled: event.currentTarget.checked })}
        />
      ) : host === undefined ? null : (
        <Switch
          label={`Remove the webhook: ${host} is told no more`}
          checked={removesWebhook}
          onChange={(event) => onChange({ removesWebhook: event.currentTarget.checked })}
        />
      )}
    </>
  )
}
