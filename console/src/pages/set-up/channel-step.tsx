import { Button, PasswordInput, Select, TagsInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/tone.tsx'
import classes from './set-up.module.css'
import { SmallForm } from './small-form.tsx'
import { isDemo } from './steps.ts'

type Vendor = NonNullable<Schema<'ChannelRequest'>['vendor']>

/** Vendors that need no more than a key. */
const vendors: Vendor[] = [
  'openai',
  'anthropic',
  'gemini',
  'mistral',
  'deepseek',
  'xai',
  'groq',
  'openrouter',
]

/** A vendor, a key and models make a channel. */
export function ChannelStep({
  channels,
  models,
}: {
  channels: readonly Schema<'Channel'>[]
  models: readonly { id: string }[]
}) {
  const [vendor, setVendor] = useState<Vendor>('openai')
  const [secret, setSecret] = useState('')
  const [chosen, setChosen] = useState<string[]>([])
  const real = channels.filter((channel) => !isDemo(channel))
  const make = async (name: string) => {
    for (const id of chosen.filter((id) => !models.some((model) => model.id === id))) {
      await ask(api.POST('/admin/v1/models', { body: { id } as never })).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 409)) throw error
      })
    }
    await ask(
      api.POST('/admin/v1/channels', {
        body: { name, vendor, api_keys: [secret.trim()], models: chosen } as never,
      }),
    )
    setSecret('')
  }
  return (
    <>
      {real.length > 0 ? null : (
        <SmallForm what="channel" suggestion="main" make={make}>
          <Select
            label="Vendor"
            data={vendors}
            value={vendor}
            onChange={(value) => value !== null && setVendor(value as Vendor)}
          />
          <PasswordInput
            label="Key of the vendor"
            required
            autoComplete="off"
            value={secret}
            onChange={({ currentTarget }) => setSecret(currentTarget.value)}
          />
          <TagsInput
            label="Models"
            required
            placeholder={chosen.length === 0 ? "By the vendor's name, then Enter" : ''}
            value={chosen}
            onChange={setChosen}
            acceptValueOnBlur
          />
        </SmallForm>
      )}
      {real.map((channel) => (
        <ChannelTest key={channel.id} id={channel.id} name={channel.name} />
      ))}
    </>
  )
}

function ChannelTest({ id, name }: { id: string; name: string }) {
  const test = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/channels/{id}/test', { params: { path: { id } }, body: {} as never })),
  })
  return (
    <div className={classes.done}>
      <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
        Test channel {name}
      </Button>
      {test.error === null ? null : <Problem error={test.error} doing="The test" />}
      {test.data?.results.map(({ protocol, model, ok, status, latency_ms, error }) => (
        <Notice key={protocol} tone={ok ? 'good' : 'bad'}>
          {protocol}, {model}:{' '}
          {ok ? `answers in ${latency_ms} ms` : `${status ?? 'no answer'}: ${error ?? 'refused'}`}
        </Notice>
      ))}
    </div>
  )
}
