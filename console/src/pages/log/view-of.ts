import type { Texts } from '../../console-search.ts'
import { filtersOf, parameterOf } from './log-filters.ts'

/** What a view keeps of an address: filters, time and order. */
export function viewOf(search: Texts): Texts {
  const names = new Set([...filtersOf(search).map(parameterOf), 'last', 'from', 'to', 'sort'])
  return Object.fromEntries(Object.entries(search).filter(([parameter]) => names.has(parameter)))
}
