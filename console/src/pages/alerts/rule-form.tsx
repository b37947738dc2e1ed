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
import { RuleField } from './rule-field.tsx'
import { conditionOf, type FieldValues, fieldsOf, type Kind, kindsFor, valuesOf } from './rule-fields.ts'

type Condition = Rule['condition']

/** Makes a rule, or changes one. `onDone` gets the secret of a new webhook, which is shown once. */
export function RuleForm({
  editing,
  onDone,
}: {
  /** Of the rule that is changed; absent: a new one is made. */
  editing?: Editing<Rule>
  onDone(secret: string | undefined): void
}) {
  const rule = editing?.base
  const { role } = useSession()
  const queries = useQueryClient()
  const [name, setName] = useState(rule?.name ?? '')
  const [tenant, setTenant] = useState(rule?.tenant_id ?? null)
  const [kind, setKind] = useState<Kind>(rule?.kind ?? 'error_rate')
  const [values, setValues] = useState<FieldValues>(() =>
    rule === undefined ? valuesOf('error_rate') : fieldsValues(rule),
  )
  const [seconds, setSeconds] = useState<number | string>(rule?.resolve_after_seconds ?? 300)
  const [url, setUrl] = useState('')
  const [tellsNobody, setTellsNobody] = useState(false)
  const [isEnabled, setEnabled] = useState(rule?.enabled ?? true)
  const isOfTenant = role === 'member' || tenant !== null
  const tenants = useQuery({ ...tenantNamesQuery, enabled: role !== 'member' && rule === undefined })
  const save = useMutation({
    mutationFn: async (): Promise<string | undefined> => {
      const body = {
        name: name.trim(),
        condition: conditionOf(kind, values) as unknown as Condition,
        ...(typeof seconds === 'number' ? { resolve_after_seconds: seconds } : {}),
        ...(tellsNobody ? { webhook: null } : url.trim() === '' ? {} : { webhook: { url: url.trim() } }),
      }
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
      done(rule === undefined ? `The rule ${name} is made` : `The rule ${name} is changed`)
      // Its next change needs the new ETag.
      await queries.invalidateQueries({ queryKey: ['alert-rules'] })
      onDone(secret)
    },
  })
  const wrong = save.error instanceof ApiError ? save.error.fields : []
  const errorAt = (path: string) => wrong.find(({ pointer }) => pointer === `#/${path}`)?.detail
  const hasPlace = wrong.some(({ pointer }) => /^#\/(name|condition\/|webhook|resolve)/.test(pointer))
  const take = (next: Kind, ofTenant: boolean) => {
    const usual = valuesOf(next)
    setKind(next)
    setValues(ofTenant && usual.of === 'channel' ? { ...usual, of: 'model' } : usual)
  }
  /** What the user has typed stays, or goes; all else is as it stands now. */
  const takeNow = (keeps: boolean) => {
    if (editing?.now === undefined) return
    const { base, now } = editing
    const [was, is] = [fieldsValues(base), fieldsValues(now)]
    if (!keeps || name === base.name) setName(now.name)
    if (!keeps || seconds === base.resolve_after_seconds) setSeconds(now.resolve_after_seconds)
    const own = keeps ? Object.entries(values).filter(([field, value]) => value !== was[field]) : []
    if (own.length === 0 || now.kind === base.kind) {
      setKind(now.kind)
      setValues({ ...is, ...Object.fromEntries(own) })
    }
    if (!keeps) {
      setUrl('')
      setTellsNobody(false)
    }
  }
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
        onChange={(event) => setName(event.currentTarget.value)}
      />
      {role === 'member' || rule !== undefined ? null : (
        <Select
          label="It watches"
          description="A rule of one tenant is seen by its members too. It cannot watch what tenants share."
          searchable
          data={[
            { value: '', label: 'All tenants' },
            ...(tenants.data?.data ?? []).map((one) => ({
              value: one.id,
              label: `The tenant ${one.name}`,
            })),
          ]}
          value={tenant ?? ''}
          onChange={(chosen) => {
            const next = chosen === '' ? null : chosen
            setTenant(next)
            if (next !== null && !kindsFor(true).some((one) => one.kind === kind)) take('error_rate', true)
            else if (next !== null && (values.of === 'channel' || values.of === 'group')) take(kind, true)
          }}
        />
      )}
      <Select
        label="It holds when"
        disabled={rule !== undefined}
        allowDeselect={false}
        data={kindsFor(isOfTenant).map((one) => ({ value: one.kind, label: one.title }))}
        value={kind}
        onChange={(chosen) => take((chosen ?? 'error_rate') as Kind, isOfTenant)}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12} className={classes.fields ?? ''}>
        {fieldsOf(kind, values).map((field) => (
          <RuleField
            key={field.name}
            field={field}
            isOfTenant={isOfTenant}
            value={values[field.name] ?? ''}
            error={errorAt(`condition/${field.name}`)}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
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
        onChange={setSeconds}
      />
      {tellsNobody ? null : (
        <TextInput
          label="Webhook"
          description={
            rule === undefined || rule.webhook === null
              ? 'An address that is told when an episode begins and ends. Empty: only the console shows it.'
              : `Now: ${rule.webhook.host}. Empty: it stays. A new address gets a new secret.`
          }
          placeholder="https://hooks.example.com/tollgate"
          value={url}
          error={errorAt('webhook/url') ?? errorAt('webhook')}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
      )}
      {rule === undefined ? (
        <Switch
          label="Watch it from now on"
          checked={isEnabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
      ) : rule.webhook === null ? null : (
        <Switch
          label={`Remove the webhook: ${rule.webhook.host} is told no more`}
          checked={tellsNobody}
          onChange={(event) => setTellsNobody(event.currentTarget.checked)}
        />
      )}
    </ChangeForm>
  )
}

function fieldsValues({ kind, condition }: Rule): FieldValues {
  return valuesOf(kind, condition as Record<string, unknown>)
}
