import { Button, Checkbox, Group, SegmentedControl, Stack, TagsInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { count, short } from '../../format/numbers.ts'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import classes from './model-choice.module.css'
import { howToAllow, usePrivateAddresses } from './private-addresses.ts'

type Place = Schema<'UpstreamModelsRequest'>
type Listed = Schema<'UpstreamModels'>['models'][number]

/** Which models a channel offers: all that its upstream lists, or some, chosen from its list or typed. */
export function ModelChoice({
  place,
  scope,
  onScope,
  chosen,
  onChoose,
  fault,
}: {
  /** Where the list is; undefined: the form does not say it yet. */
  place: Place | undefined
  scope: 'chosen' | 'any'
  onScope(scope: 'chosen' | 'any'): void
  chosen: readonly string[]
  onChoose(models: string[]): void
  fault: ReactNode
}) {
  return (
    <Stack gap={8}>
      <div>
        <div className={classes.label} id="models-of-channel">
          Models
        </div>
        <SegmentedControl
          size="xs"
          aria-labelledby="models-of-channel"
          value={scope}
          onChange={(value) => onScope(value === 'any' ? 'any' : 'chosen')}
          data={[
            { value: 'chosen', label: 'Those that I choose' },
            { value: 'any', label: 'All that it lists' },
          ]}
        />
      </div>
      {scope === 'any' ? (
        <span className="tg-quiet">
          Clients may ask for any model of the upstream by its name, also for those that come later.
        </span>
      ) : (
        <Chosen place={place} chosen={chosen} onChoose={onChoose} fault={fault} />
      )}
    </Stack>
  )
}

function Chosen({
  place,
  chosen,
  onChoose,
  fault,
}: {
  place: Place | undefined
  chosen: readonly string[]
  onChoose(models: string[]): void
  fault: ReactNode
}) {
  const read = useMutation({
    mutationFn: (body: Place) => ask(api.POST('/admin/v1/channels/upstream-models', { body })),
  })
  // With another key or address it is another list.
  const isOfPlace = JSON.stringify(read.variables) === JSON.stringify(place)
  const listed = isOfPlace && read.data?.outcome === 'listed' ? read.data.models : []
  return (
    <>
      <Group gap={8}>
        <Button
          variant="default"
          disabled={place === undefined}
          loading={read.isPending}
          onClick={() => place !== undefined && read.mutate(place)}
        >
          Read its list of models
        </Button>
        <span className="tg-quiet">Asks the upstream with the key above. Nothing is saved.</span>
      </Group>
      {!isOfPlace || read.error === null ? null : <Problem error={read.error} doing="The list of models" />}
      {!isOfPlace || read.data === undefined ? null : <Outcome of={read.data} />}
      {listed.length === 0 ? null : <ListedModels listed={listed} chosen={chosen} onChoose={onChoose} />}
      <TagsInput
        label="Chosen models"
        description="By their names at the vendor; type those that no list has. A new name becomes a model without a price: set one on its page."
        placeholder={chosen.length === 0 ? 'A name, then Enter' : ''}
        classNames={{ input: classes.tags ?? '' }}
        acceptValueOnBlur
        clearable
        value={[...chosen]}
        onChange={onChoose}
        error={fault}
      />
    </>
  )
}

/** What came of reading a list of models, where there is more to say than its models. */
export function Outcome({
  of: { outcome, models, is_cut, error, status },
}: {
  of: Schema<'UpstreamModels'>
}) {
  const mayBePrivate = usePrivateAddresses()
  switch (outcome) {
    case 'listed':
      if (models.length === 0) return <Notice tone="info">Its list is empty. Type the names.</Notice>
      return is_cut ? (
        <Notice tone="info">
          It lists more than {count(models.length)} models. Type the names that are missing here.
        </Notice>
      ) : null
    case 'no_list':
      return (
        <Notice tone="info">
          It has no list of models at this address (status {status}). Type the names, and test the channel
          then.
        </Notice>
      )
    case 'failed': {
      const address = /upstream address refused: (\S+) is a .*allow_private_address: true/.exec(
        error ?? '',
      )?.[1]
      if (address !== undefined)
        return (
          <Notice tone="bad">
            {address} is a private address.{' '}
            {mayBePrivate ? 'Turn on “It may have a private address” and try again.' : howToAllow}
          </Notice>
        )
      return (
        <Notice tone="bad">
          <strong>The list could not be read.</strong> {error} You can type the names all the same.
        </Notice>
      )
    }
  }
}

/** More at once would make the page slow, and no one reads them. */
const shownMax = 100

/** The models of a list, with a search. `takesOne`: there is no button that takes all. */
export function ListedModels({
  listed,
  chosen,
  onChoose,
  takesOne = false,
}: {
  listed: readonly Listed[]
  chosen: readonly string[]
  onChoose(models: string[]): void
  takesOne?: boolean
}) {
  const [words, setWords] = useState('')
  const wanted = words.trim().toLowerCase()
  const found = listed.filter(({ id }) => id.toLowerCase().includes(wanted))
  const taken = new Set(chosen)
  const isAll = found.every(({ id }) => taken.has(id))
  const toggleAll = () => {
    const names = new Set(found.map(({ id }) => id))
    onChoose(isAll ? chosen.filter((id) => !names.has(id)) : [...new Set([...chosen, ...names])])
  }
  return (
    <div className={classes.listed}>
      <div className={classes.tools}>
        <TextInput
          size="xs"
          flex={1}
          aria-label="Search the list"
          placeholder={`Search ${count(listed.length)} models`}
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        {takesOne ? null : (
          <Button size="xs" variant="default" disabled={found.length === 0} onClick={toggleAll}>
            {isAll && found.length > 0 ? 'Take none' : 'Take all'} {count(found.length)}
          </Button>
        )}
      </div>
      <fieldset className={classes.items} aria-label="Models that it lists">
        {found.slice(0, shownMax).map(({ id, context_length }) => (
          <Checkbox
            key={id}
            size="xs"
            checked={taken.has(id)}
            onChange={({ currentTarget }) =>
              onChoose(currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
            }
            label={
              <>
                {id}
                {context_length === null ? null : (
                  <span className="tg-quiet"> {short(context_length)} tokens</span>
                )}
              </>
            }
          />
        ))}
        {found.length === 0 ? <span className="tg-quiet">It lists no model with these letters.</span> : null}
        {found.length > shownMax ? (
          <span className="tg-quiet">And {count(found.length - shownMax)} more: search for them.</span>
        ) : null}
      </fieldset>
    </div>
  )
}
