import { Button, Group, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import {
  type ConditionField,
  conditionOf,
  type FieldValues,
  type Kind,
  kindOf,
  ruleKinds,
  valuesOf,
} from './rule-fields.ts'

/** Makes a rule, or changes one. `onMade` gets the secret of its webhook, which is shown once. */
export function RuleForm({
  rule,
  onDone,
}: {
  rule: Schema<'AlertRule'> | undefined
  onDone(secret: string | undefined): void
}) {
  const { role } = useSession()
  const queries = useQueryClient()
  const [name, setName] = useState(rule?.name ?? '')
  const [kind, setKind] = useState<Kind>(rule?.kind ?? 'error_rate')
  const [values, setValues] = useState<FieldValues>(() =>
    valuesOf(rule?.kind ?? 'error_rate', rule?.condition as Record<string, unknown> | undefined),
  )
  const [webhook, setWebhook] = useState('')
  const [isEnabled, setEnabled] = useState(rule?.enabled ?? true)
  const save = useMutation({
    mutationFn: async (): Promise<string | undefined> => {
      const condition = conditionOf(kind, values) as unknown as Schema<'AlertRequest'>['condition']
      const body = {
        name,
        condition,
        enabled: isEnabled,
        ...(webhook === '' ? {} : { webhook: { url: webhook } }),
      }
      if (rule !== undefined) {
        await ask(api.PATCH('/admin/v1/alerts/{id}', { params: { path: { id: rule.id } }, body }))
        return undefined
      }
      const made = await ask(api.POST('/admin/v1/alerts', { body }))
      return made.webhook_secret ?? undefined
    },
    onSuccess: async (secret) => {
      done(rule === undefined ? `The rule ${name} is made` : `The rule ${name} is changed`)
      await queries.invalidateQueries({ queryKey: ['alert-rules'] })
      onDone(secret)
    },
  })
  const wrong = save.error instanceof ApiError ? save.error.fields : []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap={12}>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label="When"
          disabled={rule !== undefined}
          data={ruleKinds
            .filter(({ notForMembers }) => role !== 'member' || notForMembers !== true)
            .map((one) => ({ value: one.kind, label: one.title }))}
          value={kind}
          onChange={(chosen) => {
            const next = (chosen ?? 'error_rate') as Kind
            setKind(next)
            setValues(valuesOf(next))
          }}
        />
        {kindOf(kind)?.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            error={wrong.find(({ pointer }) => pointer.endsWith(`/${field.name}`))?.detail}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        <TextInput
          label="Webhook"
          description={
            rule?.webhook === null || rule === undefined
              ? 'An address that is told when it begins and when it ends. Empty: nobody is told, the console shows it.'
              : `Now: ${rule.webhook.host}. Empty: it stays.`
          }
          placeholder="https://hooks.example.com/tollgate"
          value={webhook}
          onChange={(event) => setWebhook(event.currentTarget.value)}
        />
        <Switch
          label="It is watched"
          checked={isEnabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        {save.error === null ? null : <Problem error={save.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {rule === undefined ? 'Make the rule' : 'Save the rule'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Field({
  field: { title, kind, choices },
  value,
  error,
  onChange,
}: {
  field: ConditionField
  value: string | number | boolean
  error: string | undefined
  onChange(value: string | number | boolean): void
}) {
  if (kind === 'choice') {
    return (
      <Select
        label={title}
        data={[...(choices ?? [])]}
        value={String(value)}
        error={error}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    )
  }
  if (kind === 'switch') {
    return (
      <Switch
        label={title}
        checked={value === true}
        error={error}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  if (kind === 'number') {
    return (
      <NumberInput
        label={title}
        min={0}
        hideControls
        value={typeof value === 'number' ? value : ''}
        error={error}
        onChange={(next) => onChange(next)}
      />
    )
  }
  return (
    <TextInput
      label={title}
      value={String(value)}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
