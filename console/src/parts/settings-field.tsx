import { PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import type { Field } from './fields.ts'
import { PairsField } from './pairs-field.tsx'

/** The control of one setting. */
export function SettingsField({
  field,
  input,
  className,
}: {
  field: Field
  input: GetInputPropsReturnType
  className?: string | undefined
}) {
  const { kind, label, about, placeholder, required = false, options = [], suggestions = [], isFixed } = field
  const same = {
    label,
    required,
    disabled: isFixed === true,
    ...(className === undefined ? {} : { className }),
    ...(about === undefined ? {} : { description: about }),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(field.path === 'name' ? { 'data-autofocus': true } : {}),
    ...input,
  }
  switch (kind) {
    case 'words':
      return <Textarea {...same} autosize minRows={2} maxRows={6} />
    case 'tags':
      return <TagsInput {...same} data={[...new Set(suggestions)]} splitChars={[',', ' ']} clearable />
    case 'switch':
      return <Switch {...same} size="sm" />
    case 'choice':
      return (
        <Select {...same} data={options.map((option) => ({ ...option }))} searchable={options.length > 8} />
      )
    case 'moment':
      return <TextInput {...same} type="datetime-local" step={1} />
    case 'pairs':
      return <PairsField field={field} input={input} className={className} />
    case 'secret':
      return <PasswordInput {...same} autoComplete="off" />
    case 'integer':
      return <TextInput {...same} inputMode="numeric" autoComplete="off" />
    case 'usd':
      return <TextInput {...same} inputMode="decimal" autoComplete="off" leftSection="$" />
    default:
      return <TextInput {...same} autoComplete="off" />
  }
}
