import {
  Button,
  Group,
  PasswordInput,
  Select,
  Stack,
  Switch,
  type SwitchProps,
  TextInput,
} from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'
import {
  amazon,
  type ChannelValues,
  channelBody,
  channelFaults,
  hasFormats,
  isOwnServer,
  needsUrl,
  newChannel,
  other,
  placeOf,
} from './channel-fields.ts'
import { makeModels } from './make-models.ts'
import { ModelChoice } from './model-choice.tsx'
import { howToAllow, usePrivateAddresses } from './private-addresses.ts'
import { formats, vendors } from './vendors.ts'

/**
 * Adds a channel: who serves it, the key, and the models. Everything else has a default, and its place on the
 * channel's page.
 */
export function ChannelForm({ onMade }: { onMade(channel: Schema<'Channel'>): void }) {
  const queries = useQueryClient()
  const mayBePrivate = usePrivateAddresses()
  const form = useForm<ChannelValues>({ initialValues: newChannel, validate: channelFaults })
  const [modelsMade, setModelsMade] = useState(0)
  const values = { ...form.values, isPrivate: form.values.isPrivate && mayBePrivate }
  const { vendor } = values
  const make = useMutation({
    mutationFn: async () => {
      if (values.scope === 'chosen') await makeModels(values.models, setModelsMade)
      return await ask(api.POST('/admin/v1/channels', { body: channelBody(values) }))
    },
    onSuccess: async (channel) => {
      await queries.invalidateQueries({ queryKey: ['channels'] })
      await queries.invalidateQueries({ queryKey: ['models'] })
      onMade(channel)
    },
    onError: (error) => form.setErrors(formErrors(error)),
  })
  return (
    <form onSubmit={form.onSubmit(() => make.mutate())} noValidate>
      <Stack gap={12}>
        <Select
          label="Who serves it"
          searchable
          allowDeselect={false}
          data={[
            { group: 'Vendors', items: vendors.filter(({ kind }) => kind === 'vendor').map(itemOf) },
            { group: 'Servers of your own', items: vendors.filter(({ kind }) => kind === 'own').map(itemOf) },
            { group: 'Others', items: [{ value: other, label: 'Another server, by its base URL' }] },
          ]}
          {...form.getInputProps('vendor')}
          onChange={(next) => {
            if (next === null) return
            form.setValues({ vendor: next, isPrivate: isOwnServer(next) })
            form.clearErrors()
          }}
        />
        {hasFormats(values) ? (
          <Select label="Its format" data={[...formats]} {...form.getInputProps('format')} />
        ) : null}
        {needsUrl(values) ? (
          <>
            <TextInput
              label="Base URL"
              description={
                hasFormats(values) ? 'As its SDK takes it' : 'Empty: the usual address of this server'
              }
              placeholder={
                vendor === amazon
                  ? 'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1'
                  : 'https://api.example.com/v1'
              }
              {...form.getInputProps('base_url')}
            />
            <PrivateSwitch
              isPossible={mayBePrivate}
              input={form.getInputProps('isPrivate', { type: 'checkbox' })}
            />
          </>
        ) : null}
        <KeyFields form={form} />
        <ModelChoice
          place={channelFaults.base_url(values.base_url, values) === null ? placeOf(values) : undefined}
          scope={values.scope}
          onScope={(scope) => {
            form.setFieldValue('scope', scope)
            form.clearFieldError('models')
          }}
          chosen={values.models}
          onChoose={(models) => form.setFieldValue('models', models)}
          fault={form.errors.models}
        />
        <TextInput
          label="Name of the channel"
          description={vendor === other ? undefined : `Empty: ${vendor}`}
          {...form.getInputProps('name')}
        />
        {make.error === null ? null : <Problem error={make.error} doing="Add the channel" />}
        <Group justify="flex-end">
          {make.isPending && values.scope === 'chosen' ? (
            <span className="tg-quiet" role="status">
              {modelsMade} of {values.models.length} models are there
            </span>
          ) : null}
          <Button type="submit" loading={make.isPending}>
            Add the channel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The key, and whether requests are signed with it. */
function KeyFields({ form }: { form: Pick<UseFormReturnType<ChannelValues>, 'values' | 'getInputProps'> }) {
  const { vendor, isSigned } = form.values
  return (
    <>
      {vendor === amazon ? (
        <Switch
          size="sm"
          label="Sign each request (SigV4)"
          description="With an access key, or with the identity of the gateway's machine. Off: an API key of Bedrock is sent."
          {...form.getInputProps('isSigned', { type: 'checkbox' })}
        />
      ) : null}
      <PasswordInput
        label="Key of the vendor"
        description={
          vendor === amazon && isSigned
            ? 'ACCESS_KEY_ID:SECRET_ACCESS_KEY, stored encrypted, and never shown again. Empty: the identity of the machine.'
            : 'It is stored encrypted, and never shown again. Empty: the server wants none.'
        }
        autoComplete="off"
        {...form.getInputProps('secret')}
      />
    </>
  )
}

function PrivateSwitch({ isPossible, input }: { isPossible: boolean; input: SwitchProps }) {
  return (
    <Switch
      size="sm"
      label="It may have a private address"
      description={
        isPossible
          ? 'On this machine or in your own network, within PRIVATE_ADDRESSES of the gateway. Otherwise it refuses to call such an address.'
          : howToAllow
      }
      {...input}
      disabled={!isPossible}
      checked={isPossible && input.checked === true}
    />
  )
}

function itemOf({ vendor, title }: { vendor: string; title: string }) {
  return { value: vendor, label: title }
}
