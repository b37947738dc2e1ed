import { Button, Group, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'
import { type ModelValues, modelBody } from './model-body.ts'

/** Prices are decimals in texts: a float would change what is charged. */
const decimal = /^\d{1,12}(\.\d{1,9})?$/

/** Makes a model: its name, its sizes, its price. */
export function ModelForm({ onMade }: { onMade(id: string): void }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: {
      id: '',
      context_length: '',
      max_output_tokens: '',
      aliases: [],
      plain_members: [],
      input: '',
      output: '',
      cache_read: '',
    } as ModelValues,
    validate: {
      id: (id) => (id.trim() === '' ? 'Give it the name that clients will use.' : null),
      input: wrongDecimal,
      output: wrongDecimal,
      cache_read: wrongDecimal,
    },
  })
  const make = useMutation({
    mutationFn: (values: typeof form.values) =>
      ask(api.POST('/admin/v1/models', { body: modelBody(values) })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['models'] })
      onMade(id)
    },
    onError: (error) => form.setErrors(formErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit((values) => make.mutate(values))}>
      <Stack gap={12}>
        <TextInput label="Name that clients use" required data-autofocus {...form.getInputProps('id')} />
        <Group grow gap={12} align="flex-start">
          <NumberInput
            label="Context, tokens"
            min={1}
            hideControls
            {...form.getInputProps('context_length')}
          />
          <NumberInput
            label="Max output, tokens"
            min={1}
            hideControls
            {...form.getInputProps('max_output_tokens')}
          />
        </Group>
        <Group grow gap={12} align="flex-start">
          <TextInput label="Input, USD/M" placeholder="2.50" {...form.getInputProps('input')} />
          <TextInput label="Cached input, USD/M" placeholder="0.25" {...form.getInputProps('cache_read')} />
          <TextInput label="Output, USD/M" placeholder="10" {...form.getInputProps('output')} />
        </Group>
        <TagsInput label="Aliases" description="Other names of it" {...form.getInputProps('aliases')} />
        <TagsInput
          label="Plain members"
          description="Members of requests for which no vendor adds input, as a refusal names them"
          {...form.getInputProps('plain_members')}
        />
        {make.error === null ? null : <Problem error={make.error} doing="Add the model" />}
        <Group justify="flex-end">
          <Button type="submit" loading={make.isPending}>
            Add the model
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function wrongDecimal(value: string): string | null {
  return value === '' || decimal.test(value) ? null : 'A decimal number, such as 2.50'
}
