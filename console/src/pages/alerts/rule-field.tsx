import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { type ConditionField, choicesFor, type FieldValues, isById } from './rule-fields.ts'
import { RulePick } from './rule-pick.tsx'

/** The control of one field of a condition. */
export function RuleField({
  field,
  isOfTenant,
  values,
  error,
  onChange,
}: {
  field: ConditionField
  isOfTenant: boolean
  /** Of the whole condition. */
  values: FieldValues
  error: string | undefined
  onChange(value: string | number | boolean): void
}) {
  const { title, kind, name, thing } = field
  const value = values[name] ?? ''
  switch (kind) {
    case 'choice':
      return (
        <Select
          label={title}
          allowDeselect={false}
          data={choicesFor(field, isOfTenant)}
          value={String(value)}
          error={error}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      )
    case 'switch':
      return (
        <Switch
          label={title}
          checked={value === true}
          error={error}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberInput
          label={title}
          required
          clampBehavior="none"
          hideControls
          value={typeof value === 'number' ? value : ''}
          error={error}
          onChange={onChange}
        />
      )
    case 'pick': {
      const picked = thing?.(values) ?? 'model'
      return (
        <RulePick
          key={picked}
          thing={picked}
          isById={isById(field)}
          value={String(value)}
          error={error}
          onChange={onChange}
        />
      )
    }
    case 'text':
      return (
        <TextInput
          label={title}
          required
          value={String(value)}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}
