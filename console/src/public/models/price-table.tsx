import type { Model } from './catalog.ts'
import classes from './models.module.css'
import { usd } from './prices.ts'

type Pricing = NonNullable<Model['pricing']>
type Rate = Exclude<keyof Pricing, 'images' | 'tiers' | 'source'>

const rates: readonly (readonly [rate: Rate, title: string, unit: string])[] = [
  ['input', 'Input', 'per million tokens'],
  ['cache_read', 'Cached input', 'per million tokens'],
  ['cache_write', 'Cache write', 'per million tokens'],
  ['cache_write_1h', 'Cache write for an hour', 'per million tokens'],
  ['output', 'Output', 'per million tokens'],
  ['reasoning', 'Reasoning', 'per million tokens'],
  ['audio_input', 'Audio input', 'per million tokens'],
  ['audio_output', 'Audio output', 'per million tokens'],
  ['image', 'Image', 'each'],
  ['web_search', 'Web search', 'each'],
  ['request', 'Request', 'each'],
]

/** The price of each group, part by part. Where each group pays the same, it appears once. */
export function PriceTable({ offers }: { offers: readonly { group: string; model: Model }[] }) {
  const priced = offers.flatMap(({ group, model: { pricing } }) =>
    pricing === null ? [] : [{ group, pricing }],
  )
  const [first] = priced
  if (first === undefined) return <p className="tg-quiet">The price is not known.</p>
  const isSame = priced.every(({ pricing }) => JSON.stringify(pricing) === JSON.stringify(first.pricing))
  const shown = isSame ? [first] : priced
  const lines = rates.filter(([rate]) => priced.some(({ pricing }) => isTold(pricing, rate)))
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
          {lines.map(([rate, title, unit]) => (
            <tr key={rate}>
              <th scope="row">{title}</th>
              {shown.map(({ group, pricing }) => (
                <Cell key={group} price={pricing[rate]} />
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
            rates
              .filter(
                ([rate]) => rate !== 'image' && isTold(tier, rate) && tier[rate] !== first.pricing[rate],
              )
              .map(([rate, title, unit]) => (
                <tr key={`${conditionOf(tier)} ${rate}`}>
                  <th scope="row">
                    {title}, {conditionOf(tier)}
                  </th>
                  {shown.map(({ group, pricing }) => (
                    <Cell key={group} price={rate === 'image' ? null : pricing.tiers[index]?.[rate]} />
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

/** A part that costs what its kind of tokens costs anyway says nothing new. */
function isTold(pricing: Partial<Record<Rate, string | null>>, rate: Rate): boolean {
  const price = pricing[rate]
  if (price === null || price === undefined) return false
  const usual: Partial<Record<Rate, Rate>> = {
    cache_read: 'input',
    cache_write: 'input',
    cache_write_1h: 'cache_write',
    audio_input: 'input',
    reasoning: 'output',
    audio_output: 'output',
  }
  const same = usual[rate]
  return same === undefined || pricing[same] !== price
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
