import type { QueryClient } from '@tanstack/react-query'
import { usageQuery } from '../../api/access-queries.ts'
import { money } from '../../format/money.ts'
import type { JsonObject } from '../../parts/fields.ts'
import { done, doneBut } from '../../parts/toast.tsx'
import { spentBudgets } from './access-words.ts'

/** Says that a key or a tenant is saved, and which of its changed budgets are spent already. */
export async function saidSaved(
  queries: QueryClient,
  { of, id, words, patch }: { of: 'key' | 'tenant'; id: string; words: string; patch: JsonObject },
): Promise<void> {
  if (!('budget' in patch)) return done(words)
  const usage = await queries.fetchQuery({ ...usageQuery(of, id), staleTime: 0 }).catch(() => undefined)
  const spent = spentBudgets(of, usage?.budgets ?? [])
  if (spent.length === 0) return done(words)
  const lines = spent.map(
    ({ period, spent_nano_usd, limit_nano_usd }) =>
      `${money(spent_nano_usd)} of ${money(limit_nano_usd)} ${period === 'total' ? 'in all' : `of this ${period}`}`,
  )
  doneBut(
    words,
    `Its budget is spent already: ${lines.join(', ')}. Requests are refused until it is raised or resets.`,
  )
}
