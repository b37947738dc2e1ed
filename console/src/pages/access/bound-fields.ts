import type { Field } from '../../parts/fields.ts'

/** The fields of limits. `path`: where the API has them. */
export function limitFields(path: 'limits' | 'total_limits'): Field[] {
  return [
    { path: `${path}.requests_per_minute`, label: 'Requests a minute', kind: 'integer' },
    { path: `${path}.tokens_per_minute`, label: 'Tokens a minute', kind: 'integer' },
    { path: `${path}.concurrency`, label: 'Requests at once', kind: 'integer' },
  ]
}

/** The fields of a budget. `aboutTotal`: what a budget in all costs. */
export function budgetFields(aboutTotal?: string): Field[] {
  return [
    { path: 'budget.day', label: 'A day', kind: 'usd' },
    { path: 'budget.month', label: 'A month', kind: 'usd' },
    {
      path: 'budget.total',
      label: 'In all',
      kind: 'usd',
      ...(aboutTotal === undefined ? {} : { about: aboutTotal }),
    },
  ]
}
