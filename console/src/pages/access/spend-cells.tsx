import { useQuery } from '@tanstack/react-query'
import { spendHours, sumsQuery } from '../../api/access-queries.ts'
import { count } from '../../format/numbers.ts'
import { Money, None } from '../../parts/formatted-values.tsx'

/** Cells of a list of keys or tenants with what each asked and spent in the last 30 days. */
export function useSpendCells(by: 'key' | 'tenant') {
  const { data } = useQuery(sumsQuery({ by, hours: spendHours }))
  const sumOf = (id: string) => data?.data.find((sum) => sum[`${by}_id`] === id)
  const isWhole = data?.other === null
  const unknown = (
    <None
      why={data === undefined ? 'Not read yet.' : `None of the 200 costliest ${by}s of the last 30 days.`}
    />
  )
  return {
    requests: (id: string) => {
      const sum = sumOf(id)
      return sum !== undefined ? count(sum.requests) : isWhole ? '0' : unknown
    },
    spend: (id: string) => {
      const sum = sumOf(id)
      return sum === undefined && !isWhole ? unknown : <Money nanoUsd={sum?.cost_nano_usd ?? '0'} />
    },
  }
}
