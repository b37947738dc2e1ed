import { Button, Group, NumberInput, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'

/** Prices are decimals in texts: a float would change what is charged. */
const decimal = /^\d{1,12}(\.\d{1,9})?$/

/** Makes a model: its name, its sizes, its price. */
export function ModelForm({ onMade }: { onMade(id: string): void }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: {
      id: '',
      context_length: '' as number | string,
      max_output_tokens: '' as number | string,
      aliases: [] as string[],
      input: '',
      output: '',
      cache_read: '',
    },
    validate: {
      id: (id) => (id.trim() === '' ? 'Give it the name that clients will use.' : null),
      input: wrongDecimal,
      output: wrongDecimal,
      cache_read: wrongDecimal,
    },
  })
  const make = useMutation({
    mutationFn: (values: typeof form.values) => ask(api.POST('/admin/v1/models', { body: bodyOf(values) })),
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
            label="Most output, tokens"
            min={1}
            hideControls
            {...form.getInputProps('max_output_tokens')}
          />
        </Group>
        <Group grow gap={12} align="flex-start">
          <TextInput label="Input, USD/M" placeholder="2.50" {...form.getInputProps('input')} />
          <TextInput label="From the cache" placeholder="0.25" {...form.getInputProps('cache_read')} />
          <TextInput label="Output, USD/M" placeholder="10" {...form.getInputProps('output')} />
        </Group>
        <TagsInput label="Aliases" description="Other names of it" {...form.getInputProps('aliases')} />
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

function bodyOf(values: {
  id: string
  context_length: number | string
  max_output_tokens: number | string
  aliases: string[]
  input: string
  output: string
  cache_read: string
}): Schema<'ModelRequest'> {
  const { id, context_length, max_output_tokens, aliases, input, output, cache_read } = values
  const price = Object.fromEntries(
    Object.entries({ input, output, cache_read }).filter(([, value]) => value !== ''),
  )
  return {
    id: id.trim(),
    ...(typeof context_length === 'number' ? { context_length } : {}),
    ...(typeof max_output_tokens === 'number' ? { max_output_tokens } : {}),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...(Object.keys(price).length === 0 ? {} : { price }),
  }
}
