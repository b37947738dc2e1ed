import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError, api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { useMay } from '../../api/session.ts'
import type { Tagged } from '../../api/tagged.ts'
import { ChangeProblem } from '../../parts/change-problem.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { type LibraryChoice, libraryOf, pricesOf } from './library-choice.ts'
import classes from './settings.module.css'
import { settingsQuery } from './settings-query.ts'

const choices: { value: LibraryChoice; label: string }[] = [
  { value: 'none', label: 'Nowhere: what such a model costs is not known' },
  { value: 'library', label: 'The library of this release' },
  { value: 'daily', label: 'The library, renewed once a day' },
]

/** The one setting that can be changed while the gateway runs. */
export function PricesPart({ settings }: { settings: Tagged<Schema<'Settings'>> }) {
  const { prices } = settings.data
  return (
    <Section title="Prices of models without a price of their own">
      <span className="tg-quiet">
        A library knows what vendors ask for many models.{' '}
        <Link to="/docs/$" params={{ _splat: 'reference/prices' }}>
          What it says, and what it does not
        </Link>
        {prices.version === null ? null : (
          <>
            . In force: {prices.version}, renewed <Moment at={prices.renewed_at} none="never" />
          </>
        )}
      </span>
      <PricesForm settings={settings} />
    </Section>
  )
}

function PricesForm({ settings }: { settings: Tagged<Schema<'Settings'>> }) {
  const may = useMay()
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<ReturnType<typeof libraryOf> | undefined>(undefined)
  const editing = useEditingOf(settingsQuery, settings, chosen !== undefined)
  const data = editing.base
  const library = chosen ?? libraryOf(data.prices.value)
  const save = useMutation({
    mutationFn: () =>
      editing.change((header) =>
        ask(api.PATCH('/admin/v1/settings', { params: { header }, body: { prices: pricesOf(library) } })),
      ),
    onSuccess: async () => {
      done('The setting is in force')
      await queries.invalidateQueries({ queryKey: ['settings'] })
      setChosen(undefined)
    },
  })
  const isOfFile = data.prices.managed_by === 'file'
  const isFixed = isOfFile || !may('settings', 'write')
  const isSame = JSON.stringify(pricesOf(library)) === JSON.stringify(pricesOf(libraryOf(data.prices.value)))
  const wrong = save.error instanceof ApiError ? save.error.fields[0]?.detail : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit} className={classes.form}>
      <Stack gap={12}>
        {isOfFile ? (
          <Notice tone="info">gateway.yaml says where these prices come from. Change it there.</Notice>
        ) : isFixed ? (
          <span className="tg-quiet">Only an owner changes this setting.</span>
        ) : null}
        <Select
          label="Their prices come from"
          disabled={isFixed}
          allowDeselect={false}
          data={choices}
          value={library.choice}
          onChange={(choice) => setChosen({ ...library, choice: (choice ?? 'none') as LibraryChoice })}
        />
        {library.choice === 'daily' ? (
          <TextInput
            label="Renewed from"
            description="Empty: where the project of the library publishes it, on the internet."
            disabled={isFixed}
            value={library.renewFrom}
            error={wrong}
            onChange={(event) => setChosen({ ...library, renewFrom: event.currentTarget.value })}
          />
        ) : null}
        {wrong !== undefined && library.choice === 'daily' ? null : (
          <ChangeProblem
            error={save.error}
            editing={editing}
            yours={{ prices: { value: pricesOf(library) } }}
            onGoOn={() => {
              save.reset()
              editing.goOn()
            }}
            onDrop={() => {
              save.reset()
              setChosen(undefined)
            }}
          />
        )}
        {isFixed ? null : (
          <Group>
            <Button type="submit" disabled={isSame} loading={save.isPending}>
              Save the setting
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
