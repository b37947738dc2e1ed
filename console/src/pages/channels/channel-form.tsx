import { Button, Group, PasswordInput, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'
import { formats, type Vendor, vendors } from './vendors.ts'

/** Neither a vendor that we know, nor a server of one's own: a base URL in some format. */
const other = 'other'

/** Adds a channel: who serves it, the key, and the models. Everything else has a default, and its place on the channel's page. */
export function ChannelForm({ onMade }: { onMade(channel: Schema<'Channel'>): void }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: {
      vendor: 'openai',
      name: '',
      secret: '',
      base_url: '',
      format: 'openai-chat',
      models: [] as string[],
    },
    validate: {
      name: (name, { vendor }) =>
        name.trim() === '' && vendor === other ? 'Give it a name, such as main.' : null,
      base_url: (url, { vendor }) =>
        vendor === other && !/^https?:\/\//.test(url)
          ? 'An address that begins with https:// or http://'
          : null,
    },
  })
  const { vendor } = form.values
  const known = vendors.find((one) => one.vendor === vendor)
  const needsUrl =
    known === undefined || known.kind === 'own' || vendor === 'azure-openai' || vendor === 'bedrock'
  const make = useMutation({
    mutationFn: async (values: typeof form.values) => {
      await makeModels(values.models)
      return await ask(api.POST('/admin/v1/channels', { body: bodyOf(values) }))
    },
    onSuccess: async (channel) => {
      await queries.invalidateQueries({ queryKey: ['channels'] })
      await queries.invalidateQueries({ queryKey: ['models'] })
      onMade(channel)
    },
    onError: (error) => form.setErrors(formErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit((values) => make.mutate(values))}>
      <Stack gap={12}>
        <Select
          label="Who serves it"
          searchable
          data={[
            { group: 'Vendors', items: vendors.filter(({ kind }) => kind === 'vendor').map(itemOf) },
            { group: 'Servers of your own', items: vendors.filter(({ kind }) => kind === 'own').map(itemOf) },
            { group: 'Others', items: [{ value: other, label: 'Another server, by its base URL' }] },
          ]}
          {...form.getInputProps('vendor')}
        />
        {vendor === other ? (
          <Select label="Its format" data={[...formats]} {...form.getInputProps('format')} />
        ) : null}
        {needsUrl ? (
          <TextInput
            label="Base URL"
            description={vendor === other ? 'As its SDK takes it' : 'Empty: the usual address of this server'}
            placeholder="https://api.example.com/v1"
            {...form.getInputProps('base_url')}
          />
        ) : null}
        <PasswordInput
          label="Key of the vendor"
          description="It is stored encrypted, and never shown again. Empty: the server wants none."
          autoComplete="off"
          {...form.getInputProps('secret')}
        />
        <TagsInput
          label="Models"
          description="Their names at the vendor, one by one. A new name becomes a model without a price: set one on its page. None: all models that the vendor lists."
          placeholder="gpt-5-mini"
          {...form.getInputProps('models')}
        />
        <TextInput
          label="Name of the channel"
          description={known === undefined ? undefined : `Empty: ${known.vendor}`}
          {...form.getInputProps('name')}
        />
        {make.error === null ? null : <Problem error={make.error} doing="Add the channel" />}
        <Group justify="flex-end">
          <Button type="submit" loading={make.isPending}>
            Add the channel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** A channel can only offer models that there are, so those that are new are made first. */
async function makeModels(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      await ask(api.GET('/admin/v1/models/{id}', { params: { path: { id } } }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      await ask(api.POST('/admin/v1/models', { body: { id } }))
    }
  }
}

function itemOf({ vendor, title }: { vendor: string; title: string }) {
  return { value: vendor, label: title }
}

function bodyOf({
  vendor,
  name,
  secret,
  base_url,
  format,
  models,
}: {
  vendor: string
  name: string
  secret: string
  base_url: string
  format: string
  models: string[]
}): Schema<'ChannelRequest'> {
  const common = {
    name: name.trim() === '' ? vendor : name.trim(),
    api_keys: [secret],
    models: models.length === 0 ? ('*' as const) : models,
  }
  if (vendor === other) return { ...common, protocols: { [format]: base_url.trim() } }
  return {
    ...common,
    vendor: vendor as Vendor,
    ...(base_url.trim() === '' ? {} : { base_url: base_url.trim() }),
  }
}
