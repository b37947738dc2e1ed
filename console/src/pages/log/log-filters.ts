import {
  type FilterDeclaration,
  type FilterName,
  filterNames,
  logFilters,
} from '../../../../src/usage/log/filters.ts'
import type { Texts } from '../../console-search.ts'

/** A filter of the log, as the API declares it. After `not_`, its name leaves rows out. */
export interface FilterField extends FilterDeclaration {
  name: string
}

/** What people look for most. */
const first: readonly FilterName[] = [
  ...(['outcome', 'status', 'error', 'error_kind', 'error_reason', 'model', 'requested_model'] as const),
  ...(['served_model', 'channel', 'tenant', 'key', 'group', 'endpoint', 'stream', 'stream_end'] as const),
  ...(['finish_reason', 'total_ms', 'first_token_ms', 'queue_ms', 'cost_usd'] as const),
]

/** In the order of the menu. docs/reference/usage-log.md says what each is. */
export const filterFields: readonly FilterField[] = [...new Set([...first, ...filterNames])].map((name) => ({
  name,
  ...logFilters[name],
}))

const byName = new Map(filterFields.map((field) => [field.name, field]))

export function filterField(name: string): FilterField | undefined {
  return byName.get(name)
}

/** The fields whose value is a text in the row, and has a column of its own. */
export const columnFields = filterFields.filter(({ width }) => width !== undefined)

export function textIn(row: object, { name, member = name }: FilterField): string | undefined {
  let value: unknown = row
  for (const part of member.split('.'))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined
  return value === null || value === undefined ? undefined : String(value)
}

/** One filter: rows with any of the values, or with none of them. */
export interface Filter {
  name: string
  keeps: boolean
  values: readonly string[]
}

/** The filters of an address, in their order. */
export function filtersOf(search: Texts): Filter[] {
  return Object.entries(search).flatMap(([parameter, value]) => {
    const keeps = !parameter.startsWith('not_')
    const name = keeps ? parameter : parameter.slice('not_'.length)
    return byName.has(name) ? [{ name, keeps, values: typeof value === 'string' ? [value] : value }] : []
  })
}

/** Its parameter in an address and in the API. */
export function parameterOf({ name, keeps }: Pick<Filter, 'name' | 'keeps'>): string {
  return keeps ? name : `not_${name}`
}

/** What the API is asked for: the filters as they are in the address. */
export function queryOf(search: Texts): Record<string, string[]> {
  return Object.fromEntries(filtersOf(search).map((filter) => [parameterOf(filter), [...filter.values]]))
}

/** The address with one more value. A value that was left out and is kept now is no longer left out. */
export function withValue(search: Texts, { name, keeps }: Omit<Filter, 'values'>, value: string): Texts {
  const other = parameterOf({ name, keeps: !keeps })
  const freed = withoutValue(search, other, value)
  const parameter = parameterOf({ name, keeps })
  const before = listOf(freed[parameter])
  return { ...freed, [parameter]: before.includes(value) ? before : [...before, value] }
}

export function withoutValue(search: Texts, parameter: string, value: string): Texts {
  const { [parameter]: before, ...rest } = search
  const left = listOf(before).filter((other) => other !== value)
  return left.length === 0 ? rest : { ...rest, [parameter]: left }
}

export function withoutFilters(search: Texts): Texts {
  const parameters = new Set(filtersOf(search).map(parameterOf))
  return Object.fromEntries(Object.entries(search).filter(([name]) => !parameters.has(name)))
}

function listOf(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

/** What somebody typed into the search field. */
export type Typed =
  | { kind: 'id'; id: string }
  | { kind: 'filters'; filters: readonly { name: string; keeps: boolean; value: string }[] }

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * A request id; or words: `status:5xx` keeps, `-channel:main` leaves out, `error:"rate limit"` has quotes for
 * spaces, and any other words are a part of the error's text.
 */
export function typedOf(text: string): Typed {
  const words = text.trim()
  const id = words.replace(/^urn:uuid:/, '')
  if (uuid.test(id)) return { kind: 'id', id: id.toLowerCase() }
  const filters: { name: string; keeps: boolean; value: string }[] = []
  const rest = words.replace(
    /(^|\s)(-?)(\w+):("[^"]*"|\S+)/g,
    (whole, _space, minus: string, name: string, value: string) => {
      if (!byName.has(name)) return whole
      filters.push({ name, keeps: minus === '', value: value.replace(/^"|"$/g, '') })
      return ' '
    },
  )
  const error = rest.replace(/\s+/g, ' ').trim().replace(/^"|"$/g, '')
  return {
    kind: 'filters',
    filters: error === '' ? filters : [...filters, { name: 'error', keeps: true, value: error }],
  }
}
