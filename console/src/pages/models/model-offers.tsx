import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client.ts'
import { Section } from '../../parts/page.tsx'
import classes from './models.module.css'
import { shortPrice } from './prices.ts'

const places: Readonly<Record<string, string>> = {
  vendor: 'our table of the vendor',
  family: 'our table of this family of models',
  refusal: 'a refusal of the upstream',
  probe: 'a probe',
  file: 'gateway.yaml',
  admin: 'an admin',
}

/** The channels that offer the model, and what holds there, each trait with the place that decides it. */
export function ModelOffers({ model, offers }: { model: string; offers: readonly Schema<'Offer'>[] }) {
  return (
    <Section title="Channels that offer it">
      {offers.length === 0 ? (
        <span className="tg-quiet">None under this name. Offer it on a channel.</span>
      ) : null}
      {offers.map((offer) => (
        <details key={offer.channel_id} className={classes.offer}>
          <summary>
            <strong>{offer.channel}</strong>
            <span className="tg-quiet">
              {offer.upstream_model === '*' || offer.upstream_model === model
                ? 'under the same name'
                : `there: ${offer.upstream_model}`}
              {offer.price === null
                ? ', no price'
                : `, ${shortPrice(offer.price.price) ?? 'priced'} from ${offer.price.source}`}
            </span>
          </summary>
          <Link to="/console/channels/$id" params={{ id: offer.channel_id }}>
            See the channel
          </Link>
          {Object.entries(offer.protocols).map(([protocol, traits]) => (
            <table key={protocol} className={classes.table}>
              <caption>{protocol}</caption>
              <thead>
                <tr>
                  <th>Trait</th>
                  <th>Value</th>
                  <th>Says</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(traits).map(([trait, { value, from }]) => (
                  <tr key={trait}>
                    <th scope="row">{trait}</th>
                    <td>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</td>
                    <td className="tg-quiet">{places[from] ?? from}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ))}
        </details>
      ))}
    </Section>
  )
}
