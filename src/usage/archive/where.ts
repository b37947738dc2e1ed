import type { Parameter } from './reader-messages.ts'

/** A condition in DuckDB SQL, with a `?` for each parameter. */
export interface SqlCondition {
  text: string
  parameters: readonly Parameter[]
}

export function condition(text: string, ...parameters: Parameter[]): SqlCondition {
  return { text, parameters }
}

/** A condition that holds if all the given ones do. */
export function allOf(conditions: readonly SqlCondition[]): SqlCondition {
  if (conditions.length === 0) return condition('true')
  return {
    text: conditions.map(({ text }) => `(${text})`).join(' AND '),
    parameters: conditions.flatMap(({ parameters }) => parameters),
  }
}
