import { priceParts } from '../../format/price-parts.ts'
import type { Model } from './catalog.ts'
import classes from './models.module.css'
import { usd } from './prices.ts'

type Pricing = NonNullable<Model['pricing']>
/** The price of each group, part by part. Where each group pays the same, it appears once. */
export function PriceTable({ offers }: { offers: readonly { group: string; model: Model }[] }) {
  const priced = offers.flatMap(({ group, model: { pricing } }) =>
    pricing === null ? [] : [{ group, pricing }],
  )
  const [first] = priced
  if (first === undefined) return <p className="tg-quiet">The price is not known.</p>
  const isSame = priced.every(({ pricing }) => JSON.stringify(pricing) === JSON.stringify(first.pricing))
  const shown = isSame ? [first] : priced
  const lines = priceParts.filter((part) => priced.some(({ pricing }) => isTold(pricing, part)))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
    <section className={`${classes.table} ${classes.prices}`} aria-label="Prices" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Part</th>
            {shown.map(({ group }) => (
              <th scope="col" key={group} className={classes.number}>
                {isSame ? 'US dollars' : `Group ${group}`}
              </th>
            ))}
            <th scope="col">Unit</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ part, title, unit }) => (
            <tr key={part}>
              <th scope="row">{title}</th>
              {shown.map(({ group, pricing }) => (
                <Cell key={group} price={rateOf(pricing, part)} />
              ))}
              <td>{unit}</td>
            </tr>
          ))}
          {first.pricing.images.map(({ size, quality }, index) => (
            <tr key={`${size} ${quality}`}>
              <th scope="row">Image, {[size, quality].filter(Boolean).join(', ') || 'any'}</th>
              {shown.map(({ group, pricing }) => (
                <Cell key={group} price={pricing.images[index]?.usd} />
              ))}
              <td>each</td>
            </tr>
          ))}
          {first.pricing.tiers.flatMap((tier, index) =>
            priceParts
              .filter(
                (each) => isTold(tier, each) && rateOf(tier, each.part) !== rateOf(first.pricing, each.part),
              )
              .map(({ part, title, unit }) => (
                <tr key={`${conditionOf(tier)} ${part}`}>
                  <th scope="row">
                    {title}, {conditionOf(tier)}
                  </th>
                  {shown.map(({ group, pricing }) => (
                    <Cell key={group} price={rateOf(pricing.tiers[index] ?? {}, part)} />
                  ))}
                  <td>{unit}</td>
                </tr>
              )),
          )}
        </tbody>
      </table>
    </section>
  )
}

function Cell({ price }: { price: string | null | undefined }) {
  return <td className={classes.number}>{price == null ? '–' : usd(price)}</td>
}

type Priced = Readonly<Record<string, unknown>>

/** A part that costs what its kind of tokens costs anyway says nothing new. */
function isTold(pricing: Priced, { part, usual }: (typeof priceParts)[number]): boolean {
  const price = rateOf(pricing, part)
  return price !== undefined && (usual === undefined || rateOf(pricing, usual) !== price)
}

function rateOf(pricing: Priced, part: string): string | undefined {
  const price = pricing[part]
  return typeof price === 'string' ? price : undefined
}

function conditionOf(tier: Pricing['tiers'][number]): string {
  const time = (seconds: number) =>
    `${String(Math.floor(seconds / 3600)).padStart(2, '0')}:${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')}`
  return [
    tier.above_input_tokens === null
      ? undefined
      : `above ${tier.above_input_tokens.toLocaleString('en')} input tokens`,
    tier.service_tier === null ? undefined : `service tier ${tier.service_tier}`,
    tier.since === null ? undefined : `from ${tier.since.slice(0, 10)}`,
    tier.daily_from === null || tier.daily_to === null
      ? undefined
      : `${time(tier.daily_from)} to ${time(tier.daily_to)} UTC`,
  ]
    .filter((words) => words !== undefined)
    .join(', ')
}
