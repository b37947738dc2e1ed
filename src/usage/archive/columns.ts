import type { DuckDBType, DuckDBValue } from '@duckdb/node-api'
import type { Duck } from './duck.ts'

/** A column of a Postgres table, with its Postgres type. */
export interface ArchivedColumn {
  name: string
  type: string
}

/** The type of a column in the files. */
export function duckType({ type }: ArchivedColumn): string {
  return duckTypes[type] ?? 'VARCHAR'
}

const duckTypes: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  'timestamp with time zone': 'TIMESTAMPTZ',
  'text[]': 'VARCHAR[]',
}

/** The expression that selects the column in the form that `duckValue` expects. */
export function selected({ name, type }: ArchivedColumn): string {
  switch (type) {
    case 'boolean':
    case 'smallint':
    case 'integer':
    case 'text':
      return quotedName(name)
    case 'text[]':
      return `to_jsonb(${quotedName(name)})::text`
    case 'timestamp with time zone':
      return `(extract(epoch from ${quotedName(name)}) * 1000000)::bigint::text`
    default:
      return `${quotedName(name)}::text`
  }
}

/** Converts a value from Postgres to the form that DuckDB accepts. */
export function duckValue({ api }: Duck, { type }: ArchivedColumn, value: unknown): DuckDBValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean' || typeof value === 'number') return value
  const text = String(value)
  switch (type) {
    case 'bigint':
      return BigInt(text)
    case 'timestamp with time zone':
      return new api.DuckDBTimestampTZValue(BigInt(text))
    case 'text[]': {
      const texts: unknown = JSON.parse(text)
      return api.listValue(Array.isArray(texts) ? texts.map(String) : [])
    }
    default:
      return text
  }
}

export function typeOf({ api }: Duck, { type }: ArchivedColumn): DuckDBType {
  switch (type) {
    case 'boolean':
      return api.BOOLEAN
    case 'smallint':
      return api.SMALLINT
    case 'integer':
      return api.INTEGER
    case 'bigint':
      return api.BIGINT
    case 'timestamp with time zone':
      return api.TIMESTAMPTZ
    case 'text[]':
      return api.LIST(api.VARCHAR)
    default:
      return api.VARCHAR
  }
}

/** A quoted identifier, for SQL of both Postgres and DuckDB. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A DuckDB text literal, for values such as file paths that cannot always be parameters. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
