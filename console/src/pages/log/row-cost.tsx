import type { Schema } from '../../api/client.ts'
import { Money } from '../../parts/formatted-values.tsx'
import { costLines, isAtMost, outputAtMost, pricedBy } from './cost-lines.ts'
import classes from './row-cost.module.css'

/** The cost as the sum that it is, and where the price comes from. */
export function RowCost({ row }: { row: Schema<'LogDetail'> }) {
  const lines = costLines(row)
  const facts = row.cost_facts.filter(({ part }) => part !== outputAtMost)
  if (row.cost_nano_usd === null) {
    return (
      <div className={classes.cost}>
        <strong>Cost unknown.</strong>{' '}
        <span className="tg-quiet">
          {row.outcome === 'orphaned'
            ? 'The process died before the end: nobody knows what the upstream made. Nothing was charged.'
            : row.usage_source === 'implausible'
              ? 'The upstream reported more tokens than the request can have used. Nothing was charged.'
              : 'The upstream gave no usage, or the model has no price. Nothing was charged.'}
        </span>
      </div>
    )
  }
  return (
    <div className={classes.cost}>
      <div>
        <strong>
          {isAtMost(row) ? 'Cost at most' : 'Cost'} <Money nanoUsd={row.cost_nano_usd} />
        </strong>{' '}
        <span className="tg-quiet">{pricedBy(row)}</span>
      </div>
      {row.charged_nano_usd === row.cost_nano_usd ? null : (
        <div>
          Charged <Money nanoUsd={row.charged_nano_usd} />{' '}
          <span className="tg-quiet">No more was held for it.</span>
        </div>
      )}
      {row.usage_source !== 'estimated' ? null : (
        <div>
          {isAtMost(row)
            ? 'The upstream reported no usage, so all the output that the request allows is counted.'
            : 'The upstream reported no usage: the tokens are estimated from the bytes that came.'}
        </div>
      )}
      {lines.length === 0 ? null : (
        <table>
          <tbody>
            {lines.map(({ name, amount, perMillion, nanoUsd }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{amount}</td>
                <td className="tg-quiet">{perMillion === undefined ? '' : `× ${perMillion}`}</td>
                <td>
                  <Money nanoUsd={nanoUsd} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {facts.length === 0 ? null : (
        <div className="tg-quiet">
          {facts
            .map((fact) =>
              'name' in fact && fact.name !== undefined ? `${fact.part}: ${fact.name}` : fact.part,
            )
            .join(' · ')}
        </div>
      )}
    </div>
  )
}
