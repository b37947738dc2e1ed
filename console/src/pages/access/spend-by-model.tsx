import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { firstOfDays, spendDays, sumsOfDaysQuery } from '../../api/access-queries.ts'
import { exactMoney } from '../../format/money.ts'
import { count } from '../../format/numbers.ts'
import { None, Tokens } from '../../parts/formatted-values.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Rows } from '../../parts/rows.tsx'
import { SpendCell } from '../../parts/spend-cells.tsx'
import classes from './access.module.css'

/** What a tenant, a key or a group has spent in the last 30 days (UTC) by model, and the way to the log. */
export function SpendByModel({
  of,
  filter,
}: {
  of: { tenant?: string; key?: string; group?: string }
  filter: Record<string, string>
}) {
  const sums = useQuery(sumsOfDaysQuery({ by: 'model', days: spendDays, ...of }))
  // The numbers are of whole days, and so are the requests that they lead to.
  const inLog = { ...filter, from: new Date(firstOfDays(spendDays)).toISOString() }
  const problem = usePart('the spend', sums)
  if (problem === null) return null
  return (
    <Section
      title="Spend by model, 30 days (UTC)"
      actions={
        <Link className={classes.link} to="/console/log" search={inLog}>
          Open its log
        </Link>
      }
    >
      {problem !== undefined ? (
        problem
      ) : sums.data === undefined ? (
        <WaitingRows />
      ) : (
        <Rows
          label="Spend by model"
          rows={sums.data.data}
          idOf={({ model }) => model ?? ''}
          none="There were no requests in the last 30 days."
          columns={[
            {
              head: 'Model',
              cell: ({ model }) =>
                model === null || model === undefined ? (
                  <None why="These requests named no model that the gateway has." />
                ) : (
                  <Link
                    className={classes.link}
                    to="/console/log"
                    search={{ ...inLog, requested_model: model }}
                  >
                    {model}
                  </Link>
                ),
            },
            { head: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
            { head: 'Errors', align: 'right', cell: ({ errors }) => count(errors) },
            {
              head: 'Input tokens',
              align: 'right',
              cell: ({ tokens }) => <Tokens value={tokens.input + tokens.cache_read + tokens.cache_write} />,
            },
            {
              head: 'Output tokens',
              align: 'right',
              cell: ({ tokens }) => <Tokens value={tokens.output + tokens.reasoning} />,
            },
            {
              head: 'Cost',
              align: 'right',
              cell: (sums) => <SpendCell of={sums} />,
            },
          ]}
          foot={`${count(sums.data.total.requests)} requests, ${exactMoney(sums.data.total.cost_nano_usd)} in all${
            sums.data.total.unpriced_requests === 0
              ? ''
              : `; the cost of ${count(sums.data.total.unpriced_requests)} of them is not known`
          }`}
        />
      )}
    </Section>
  )
}
