import { Button } from '@mantine/core'
import { ChevronDownIcon, ChevronUpIcon } from '@primer/octicons-react'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { count, short } from '../../format/numbers.ts'
import { None } from '../../parts/formatted-values.tsx'
import { type Model, otherVendor, vendorOf } from './catalog.ts'
import { mainFeatures } from './features.ts'
import type { ModelSearch, ModelSort } from './model-search.ts'
import classes from './models.module.css'
import { usd } from './prices.ts'

/** How many rows are drawn at once. */
const rowsAtOnce = 200

const columns: readonly { sort: ModelSort; title: string; isNumber: boolean }[] = [
  { sort: 'name', title: 'Model', isNumber: false },
  { sort: 'input-price', title: 'Input $/M', isNumber: true },
  { sort: 'output-price', title: 'Output $/M', isNumber: true },
  { sort: 'context', title: 'Context', isNumber: true },
  { sort: 'output', title: 'Max output', isNumber: true },
]

export function ModelTable({
  models,
  search,
  onSort,
}: {
  models: readonly Model[]
  search: ModelSearch
  onSort(sort: string | undefined): void
}) {
  const [most, setMost] = useState(rowsAtOnce)
  const left = models.length - most
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className={classes.table} aria-label="Models" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.sort} column={column} search={search} onSort={onSort} />
              ))}
              <th scope="col">Features</th>
            </tr>
          </thead>
          <tbody>
            {models.slice(0, most).map((model) => (
              <Row key={model.id} model={model} />
            ))}
          </tbody>
        </table>
      </section>
      {left > 0 ? (
        <Button variant="default" onClick={() => setMost(most + rowsAtOnce)}>
          Show {Math.min(left, rowsAtOnce)} more
        </Button>
      ) : null}
    </>
  )
}

function Head({
  column: { sort, title, isNumber },
  search,
  onSort,
}: {
  column: (typeof columns)[number]
  search: ModelSearch
  onSort(sort: string | undefined): void
}) {
  const isHere = search.sort === sort
  const Arrow = search.isDescending ? ChevronDownIcon : ChevronUpIcon
  const next = isHere && !search.isDescending ? `-${sort}` : sort
  return (
    <th
      scope="col"
      className={isNumber ? classes.number : undefined}
      aria-sort={isHere ? (search.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button type="button" onClick={() => onSort(next === 'name' ? undefined : next)}>
        {title}
        {isHere ? <Arrow size={12} aria-hidden /> : null}
      </button>
    </th>
  )
}

function Row({ model }: { model: Model }) {
  const { id, context_length, max_output_tokens, pricing } = model
  const vendor = vendorOf(id)
  return (
    <tr>
      <th scope="row">
        <Link to="/models/$" params={{ _splat: id }}>
          {id}
        </Link>
        {vendor === otherVendor ? null : <span className="tg-quiet">{vendor}</span>}
      </th>
      <td className={classes.number}>
        <Price price={pricing?.input} />
      </td>
      <td className={classes.number}>
        {pricing?.output == null && pricing?.image != null ? (
          `${usd(pricing.image)} an image`
        ) : (
          <Price price={pricing?.output} />
        )}
      </td>
      <td className={classes.number}>
        <Size tokens={context_length} />
      </td>
      <td className={classes.number}>
        <Size tokens={max_output_tokens} />
      </td>
      <td className={classes.features}>
        {mainFeatures
          .filter(({ has }) => has(model))
          .map(({ label }) => label)
          .join(', ') || <None why="What it can do is not known." />}
      </td>
    </tr>
  )
}

function Size({ tokens }: { tokens: number | null }) {
  if (tokens === null) return <None why="Not known" />
  return <span title={`${count(tokens)} tokens`}>{short(tokens)}</span>
}

function Price({ price }: { price: string | null | undefined }) {
  return price == null ? <None why="Not known" /> : usd(price)
}
