import { Button, Modal, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fragment, type ReactNode, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { priceParts } from '../../format/price-parts.ts'
import { ChangeForm } from '../../parts/change-form.tsx'
import { formErrors } from '../../parts/form-errors.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { useModelEditing } from './model-query.ts'
import classes from './models.module.css'
import { draftOf, faultsOf } from './price-draft.ts'
import { otherLines } from './price-lines.ts'
import { columns, partOf } from './prices.ts'

type Price = Schema<'AdminModelDetails'>['price']

/**
 * The price in force, where it comes from, and those before it. Rows of the log keep the price that they were
 * charged by.
 */
export function ModelPrices({
  tagged,
  why,
  mayChange,
}: {
  tagged: Tagged<Schema<'AdminModelDetails'>>
  why: string | undefined
  mayChange: boolean
}) {
  const model = tagged.data
  const [isOpen, form] = useDisclosure(false)
  const versions = useQuery({
    queryKey: ['models', model.id, 'prices'],
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/models/{id}/prices', {
          params: { path: { id: model.id }, query: { limit: 20 } },
          signal,
        }),
      ),
  })
  const rows: PriceRow[] = [
    ...(versions.data?.data.map(({ id, created_at, source, price }, at) => ({
      id,
      price,
      words: (
        <>
          {at === 0 ? 'in force since ' : 'from '}
          <Moment at={created_at} />, {source}
        </>
      ),
    })) ?? []),
    ...model.library_prices.map(({ channel, source, price }) => ({
      id: `library ${channel}`,
      price,
      words: (
        <>
          of {source}, for channel {channel}
        </>
      ),
    })),
  ]
  return (
    <Section
      title="Prices"
      actions={
        mayChange ? (
          <Button variant="default" onClick={form.open}>
            Set a new price
          </Button>
        ) : undefined
      }
    >
      {versions.error === null ? null : (
        <Problem error={versions.error} onAgain={() => void versions.refetch()} />
      )}
      {why === undefined ? null : <span className="tg-quiet">{why}</span>}
      {versions.data !== undefined && rows.length === 0 ? (
        <span className="tg-quiet">
          No price: the cost of its requests is unknown, and a tenant with a balance cannot use it.
        </span>
      ) : (
        <PriceTable rows={rows} />
      )}
      <Modal opened={isOpen} onClose={form.close} title="Set a new price">
        <PriceForm of={tagged} onDone={form.close} />
      </Modal>
    </Section>
  )
}

interface PriceRow {
  id: string
  price: Price
  /** Since when it is in force, or whose it is. */
  words: ReactNode
}

function PriceTable({ rows }: { rows: readonly PriceRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
    <section className={classes.scrolls} tabIndex={0} aria-label="Prices by version">
      <table className={classes.table}>
        <thead>
          <tr>
            <th>Version</th>
            {columns.map(({ part, title }) => (
              <th key={part} data-number>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, price, words }) => (
            <Fragment key={id}>
              <tr>
                <th scope="row">{words}</th>
                {columns.map(({ part }) => (
                  <td key={part} data-number>
                    {partOf(price, part) ?? '–'}
                  </td>
                ))}
              </tr>
              <OtherLines price={price} />
            </Fragment>
          ))}
        </tbody>
      </table>
      <span className="tg-quiet">
        USD for a million tokens or characters; an image, a search and a request in USD each.
      </span>
    </section>
  )
}

function OtherLines({ price }: { price: Price }) {
  const lines = otherLines(price ?? {})
  if (lines.length === 0) return null
  return (
    <tr>
      <td colSpan={columns.length + 1}>
        <ul className={classes.lines} aria-label="Its other prices">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </td>
    </tr>
  )
}

function PriceForm({ of, onDone }: { of: Tagged<Schema<'AdminModelDetails'>>; onDone(): void }) {
  const queries = useQueryClient()
  const editing = useModelEditing(of, true)
  // The library's price is in force where the model has none of its own.
  const [texts, setTexts] = useState(() => textsOf(of.data.price ?? of.data.library_prices[0]?.price))
  const [showsFaults, setShowsFaults] = useState(false)
  const save = useMutation({
    mutationFn: (price: Record<string, unknown>) =>
      editing.change((header) =>
        ask(
          api.POST('/admin/v1/models/{id}/prices', {
            params: { path: { id: of.data.id }, header },
            body: price,
          }),
        ),
      ),
    onSuccess: async () => {
      done('The new price is in force. Requests that run keep the one before.')
      await queries.invalidateQueries({ queryKey: ['models'] })
      onDone()
    },
  })
  const price = pricedBy(texts, editing.base.price)
  const faults = { ...formErrors(save.error), ...(showsFaults ? faultsOf(draftAs(price)) : {}) }
  const send = () => {
    setShowsFaults(true)
    if (Object.keys(faultsOf(draftAs(price))).length === 0) save.mutate(price)
  }
  const take = (keeps: boolean) => {
    const [before, now] = [textsOf(editing.base.price), textsOf(editing.now?.price)]
    setTexts(
      keeps
        ? Object.fromEntries(
            Object.entries(texts).map(([part, text]) => [
              part,
              text === before[part] ? (now[part] ?? '') : text,
            ]),
          )
        : now,
    )
  }
  return (
    <ChangeForm
      save={save}
      send={send}
      hidesProblem={Object.keys(faults).some((part) => part in texts)}
      editing={editing}
      verb="Set the price"
      yours={{ price: save.variables }}
      onTake={take}
    >
      {priceParts.map(({ part, title, unit }, at) => (
        <TextInput
          key={part}
          label={`${title}, USD ${unit}`}
          inputMode="decimal"
          data-autofocus={at === 0 || undefined}
          value={texts[part] ?? ''}
          onChange={(event) => {
            setTexts({ ...texts, [part]: event.currentTarget.value })
            save.reset()
          }}
          error={faults[part]}
        />
      ))}
      {faults.price === undefined ? null : <Notice tone="bad">{nothingStated}</Notice>}
    </ChangeForm>
  )
}

const nothingStated = 'Write at least one price. A free model has 0 for input and for output.'

/** A price that is not free by a choice of its own: each field is looked at. */
const draftAs = (price: Record<string, unknown>) => ({ ...draftOf(price), kind: 'priced' as const })

/** The texts of the form for a price. */
function textsOf(price: Price | undefined): Record<string, string> {
  return Object.fromEntries(
    priceParts.map(({ part }) => {
      const stated = price?.[part]
      return [part, typeof stated === 'string' ? stated : '']
    }),
  )
}

/** What this form does not show stays as it is: tiers and sizes of images. */
function pricedBy(texts: Readonly<Record<string, string>>, price: Price): Record<string, unknown> {
  const stated = Object.entries(texts).filter(([, text]) => text.trim() !== '')
  const others = Object.entries(price ?? {}).filter(([part, value]) => !(part in texts) && value !== null)
  return Object.fromEntries([...others, ...stated])
}
