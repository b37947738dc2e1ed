import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { type ConditionField, choicesFor } from './rule-fields.ts'

/** The control of one field of a condition. */
export function RuleField({
  field,
  isOfTenant,
  value,
  error,
  onChange,
}: {
  field: ConditionField
  isOfTenant: boolean
  value: string | number | boolean
  error: string | undefined
  onChange(value: string | number | boolean): void
}) {
  const { title, kind, isOptional, least } = field
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
          min={least ?? 0}
          hideControls
          value={typeof value === 'number' ? value : ''}
          error={error}
          onChange={onChange}
        />
      )
    case 'text':
      return (
        <TextInput
          label={title}
          required={isOptional !== true}
          value={String(value)}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}
