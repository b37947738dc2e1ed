import type { DuckDBType, DuckDBValue } from '@duckdb/node-api'
import type { Duck } from './duck.ts'
import type { Parameter } from './reader-messages.ts'

/** Converts a query's parameters to DuckDB values. */
export function duckValues(duck: Duck, parameters: readonly Parameter[]): DuckDBValue[] {
  return parameters.map((value) => {
    if (value instanceof Date) return new duck.api.DuckDBTimestampTZValue(BigInt(value.getTime()) * 1000n)
    return isTexts(value) ? duck.api.listValue([...value]) : value
  })
}

export function typesOf({ api }: Duck, parameters: readonly Parameter[]): DuckDBType[] {
  return parameters.map((value) => {
    if (value instanceof Date) return api.TIMESTAMPTZ
    if (isTexts(value)) return api.LIST(api.VARCHAR)
    switch (typeof value) {
      case 'bigint':
      case 'number':
        return api.BIGINT
      case 'boolean':
        return api.BOOLEAN
      default:
        return api.VARCHAR
    }
  })
}

function isTexts(value: Parameter): value is readonly string[] {
  return Array.isArray(value)
}
