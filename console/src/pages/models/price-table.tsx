import { memo } from 'react'
import { priceParts } from '../../format/price-parts.ts'
import { changesOf, draftOf, type PriceDraft, priceOf } from './price-draft.ts'
import { otherLines } from './price-lines.ts'
import classes from './prices.module.css'
import { columns } from './prices.ts'
import type { PricedModel } from './prices-query.ts'

const kinds = [
  { value: 'priced', label: 'Priced' },
  { value: 'free', label: 'Free' },
  { value: 'none', label: 'No price yet' },
] as const

type Faults = Readonly<Record<string, string>>

/** Models with a field for each part of their price. */
export function PriceTable({
  models,
  drafts,
  faults,
  onChange,
}: {
  models: readonly PricedModel[]
  drafts: ReadonlyMap<string, PriceDraft>
  /** By the id of the model and the part; `price` is the whole of it. */
  faults: ReadonlyMap<string, Faults>
  onChange(id: string, draft: PriceDraft): void
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
    <section className={classes.scroll} tabIndex={0} aria-label="Prices of models">
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Price</th>
            {columns.map(({ part, title }) => (
              <th key={part} scope="col" data-number>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <Row
              key={model.id}
              model={model}
              draft={drafts.get(model.id) ?? draftOf(model.price)}
              faults={faults.get(model.id)}
              onChange={onChange}
            />
          ))}
        </tbody>
      </table>
      <p className={classes.units}>
        USD for a million tokens; an image in USD each. An empty field costs what its usual part costs: cached
        input and cache writes as input, reasoning as output.
      </p>
    </section>
  )
}

/** Only the row that is written in is drawn again. */
const Row = memo(function Row({
  model,
  draft,
  faults = {},
  onChange,
}: {
  model: PricedModel
  draft: PriceDraft
  faults: Faults | undefined
  onChange(id: string, draft: PriceDraft): void
}) {
  const { id, suggestion } = model
  const isFixed = model.managed_by === 'file'
  const suggested = suggestion === null ? undefined : draftOf(suggestion.price)
  const hidden = priceParts.filter(({ part, isColumn }) => !isColumn && draft.texts[part] !== undefined)
  const lines = draft.kind === 'priced' ? otherLines({ ...draft.others, ...textsOf(draft, hidden) }) : []
  const faultId = `fault ${id}`.replaceAll(/\s/g, '-')
  const messages = Object.entries(faults)
  return (
    <>
      <tr data-fault={messages.length > 0 || undefined}>
        <th scope="row" className={classes.model}>
          {id}
        </th>
        <td data-title="Price">
          <select
            aria-label={`Kind of price of ${id}`}
            value={draft.kind}
            disabled={isFixed}
            onChange={({ currentTarget: { value } }) => {
              const kind = kinds.find((one) => one.value === value)?.value ?? 'none'
              onChange(id, { ...draft, kind })
            }}
          >
            {kinds.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </td>
        {columns.map(({ part, title }) => (
          <td key={part} data-title={title} data-number>
            <input
              aria-label={`${title} of ${id}`}
              inputMode="decimal"
              autoComplete="off"
              placeholder="–"
              disabled={isFixed || draft.kind === 'free'}
              aria-invalid={faults[part] !== undefined || undefined}
              aria-describedby={messages.length > 0 ? faultId : undefined}
              value={
                draft.kind === 'free'
                  ? freeText(part)
                  : draft.kind === 'none'
                    ? ''
                    : (draft.texts[part] ?? '')
              }
              onChange={({ currentTarget: { value } }) => {
                const texts = draft.kind === 'none' ? {} : draft.texts
                onChange(id, { ...draft, kind: 'priced', texts: { ...texts, [part]: value } })
              }}
            />
          </td>
        ))}
      </tr>
      <tr className={classes.under}>
        <td colSpan={columns.length + 2}>
          {messages.length === 0 ? null : (
            <div id={faultId} role="alert" className={classes.fault}>
              {messages.map(([part, text]) => (
                <div key={part}>{part === 'price' ? text : `${titleIn(part)}: ${text}`}</div>
              ))}
            </div>
          )}
          <div className={classes.source}>
            <Source model={model} draft={draft} />
            {isFixed || suggested === undefined || isSame(draft, suggested) ? null : (
              <button type="button" onClick={() => onChange(id, suggested)}>
                Take the library’s<span className="tg-heard"> for {id}</span>
              </button>
            )}
            {lines.length === 0 ? null : (
              <details>
                <summary>{lines.length === 1 ? '1 more price' : `${lines.length} more prices`}</summary>
                {lines.map((line) => (
                  <div key={line}>{line}</div>
                ))}
              </details>
            )}
          </div>
        </td>
      </tr>
    </>
  )
})

/** Why the fields say what they say, or why they say nothing. */
function Source({
  model: { price, price_version, managed_by, suggestion, id },
  draft,
}: {
  model: PricedModel
  draft: PriceDraft
}) {
  if (managed_by === 'file') return <>gateway.yaml: change it there</>
  if (price !== null && isSame(draft, draftOf(price))) return <>in force, {price_version?.source}</>
  if (suggestion !== null && isSame(draft, draftOf(suggestion.price)))
    return (
      <>
        library, {suggestion.source}
        {suggestion.matched_by === 'name' ? ' by its name' : ''}
        {suggestion.partial ? '; its prices at some times of day are left out' : ''}
      </>
    )
  if (draft.kind !== 'none') return <>written here</>
  if (id === '*') return <>Stands for any name: only a name has a price in the library.</>
  return suggestion === null ? (
    <>The library knows no price under this name.</>
  ) : (
    <>none: what it costs stays unknown</>
  )
}

const isSame = (one: PriceDraft, other: PriceDraft) =>
  one.kind === other.kind && changesOf(priceOf(one), priceOf(other)).length === 0
const freeText = (part: string) => (part === 'input' || part === 'output' ? '0' : '')
const titleIn = (part: string) => priceParts.find((one) => one.part === part)?.title ?? part

function textsOf({ texts }: PriceDraft, shown: readonly { part: string }[]) {
  return Object.fromEntries(shown.map(({ part }) => [part, texts[part]]))
}
