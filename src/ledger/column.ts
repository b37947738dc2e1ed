import { messageCharactersMax, redactText } from '../redaction/redact.ts'
import { fitText, type TupleWriter } from './tuple.ts'

/**
 * A kind of column and its bound. Every writer of a row removes secrets from its texts, and truncates or
 * clamps a value beyond the bound, so that Postgres never refuses a row for it.
 *
 * All types have the same members in the same order: V8 reads them several times faster.
 */
interface ColumnType<Kind extends keyof Kinds = keyof Kinds, Nullable extends boolean = boolean> {
  readonly kind: Kind
  /** The highest number, or the most UTF-16 units of a text. */
  readonly max: number
  /** The most texts of a list. */
  readonly countMax: number
  /** True: null means an unknown value. */
  readonly nullable: Nullable
  /** Why its texts are written without a search for secrets; undefined: they are searched. */
  readonly trusted: string | undefined
  /** The value that the API shows for null. */
  readonly shownNull: unknown
}

export type ColumnKind = keyof Kinds

/** The type of each kind in a record (`kept`) and in an answer of Postgres (`read`). */
interface Kinds {
  uuid: { kept: string; read: string }
  /** Milliseconds since the epoch. */
  moment: { kept: number; read: Date }
  bool: { kept: boolean; read: boolean }
  /** Whole numbers from 0 to `max`. */
  int2: { kept: number; read: number }
  int4: { kept: number; read: number }
  /** Nano-USD, in JSON as decimal digits. */
  money: { kept: bigint; read: string }
  /** A longer text is truncated at its end. */
  text: { kept: string; read: string }
  texts: { kept: readonly string[]; read: readonly string[] }
  /** The JSON text of an array. A longer one loses its last elements, so that it still parses. */
  array: { kept: string; read: string }
}

export const uuid = type('uuid')
export const moment = type('moment')
export const bool = type('bool')
export const int2 = type('int2', 32_767)
export const int4 = type('int4', 2_147_483_647)
export const money = type('money')
/** A word of our own. */
export const word = trusted(type('text', 64), 'the gateway has a list of these words, or works them out')
/**
 * Short enough for an index: an entry has 2,704 bytes, which hold the longest `name` and the longest
 * `longName`.
 */
export const name = type('text', 256)
export const longName = type('text', 512)
export const message = type('text', messageCharactersMax)
export const notes = type('array', 65_536)
export const tagList = type('texts', 64, 16)

function type<Kind extends keyof Kinds>(kind: Kind, max = 0, countMax = 0): ColumnType<Kind, false> {
  return { kind, max, countMax, nullable: false, trusted: undefined, shownNull: null }
}

/**
 * The same type, written without a search for secrets. `why`: neither a client nor an upstream can choose the
 * text.
 */
export function trusted<Kind extends keyof Kinds>(type: ColumnType<Kind, false>, why: string) {
  return { ...type, trusted: why }
}

/** The same type, or null. `shownNull`: the value that the API shows for null. */
export function orNull<Kind extends keyof Kinds>(
  type: ColumnType<Kind>,
  shownNull: unknown = null,
): ColumnType<Kind, true> {
  return { ...type, nullable: true, shownNull }
}

/** Where the API shows a column: in lists and details, in details alone, or nowhere. */
export type Shown = 'list' | 'detail' | 'nowhere'

/**
 * `content`: what people wrote, who they are, or what points to it. An erasure sets it to NULL, so the column
 * must allow that. `facts`: ids, times, models, tokens, money and our own words, which stay.
 */
export type Holds = 'content' | 'facts'

/** The parts of a column for its documents. */
export interface ColumnDescription {
  readonly name: string
  readonly shown: Shown
  readonly holds: Holds
  /** Its path in the API's JSON. */
  readonly member: string
  readonly description: string
}

/** A column whose values come from a `Source`. */
export type Column<Source> = {
  [Kind in keyof Kinds]: ColumnDescription &
    ColumnType<Kind> & { from(source: Source): Kinds[Kind]['kept'] | null | undefined }
}[keyof Kinds]

type OrNull<Value, Nullable extends boolean> = Nullable extends true ? Value | null | undefined : Value

/** A row of these columns as Postgres answers it. */
export type RowOf<Columns extends ColumnDescription & ColumnType> = {
  [Each in Columns as Each['name']]:
    | Kinds[Each['kind']]['read']
    | (Each['nullable'] extends true ? null : never)
}

/** Makes columns whose values come from a `Source`. `member`: default is the column's name. */
export function columnsFrom<Source, const Half extends string>(half: Half) {
  return <
    const Name extends string,
    Kind extends keyof Kinds,
    Nullable extends boolean,
    const Where extends Shown,
  >(
    name: Name,
    type: ColumnType<Kind, Nullable>,
    from: (source: Source) => OrNull<Kinds[Kind]['kept'], Nullable>,
    shown: Where,
    holds: Holds,
    description: string,
    member: string = name,
  ) => ({ ...type, name, half, from, shown, holds, description, member })
}

/** The names of the columns whose values an erasure removes. */
export function contentOf(columns: readonly ColumnDescription[]): string[] {
  return columns.filter(({ holds }) => holds === 'content').map(({ name }) => name)
}

/** Append these columns to a tuple, with one call for each: more calls would cost as much as the bytes. */
export function writeColumns<Source>(
  out: TupleWriter,
  columns: readonly Column<Source>[],
  source: Source,
): void {
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    if (column !== undefined) writeColumn(out, column, source)
  }
}

function writeColumn<Source>(out: TupleWriter, column: Column<Source>, source: Source): void {
  switch (column.kind) {
    case 'uuid': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.uuid(value)
      break
    }
    case 'moment': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.moment(value)
      break
    }
    case 'bool': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.bool(value)
      break
    }
    case 'int2': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.int2(clamp(value, column.max))
      break
    }
    case 'int4': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.int4(clamp(value, column.max))
      break
    }
    case 'money': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.int8(clampNano(value))
      break
    }
    case 'text': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.text(cleanText(column, value), column.max)
      break
    }
    case 'texts': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.texts(cleanTexts(column, value), column.max)
      break
    }
    case 'array': {
      const value = column.from(source)
      if (value == null) out.null()
      else out.text(cleanArray(column, value), column.max)
      break
    }
  }
}

/** A text without secrets. It may still be longer than the column. */
function cleanText({ trusted, max }: ColumnType, value: string): string {
  return trusted === undefined ? redactText(value, undefined, max) : value
}

function cleanTexts(column: ColumnType, values: readonly string[]): string[] {
  return values.slice(0, column.countMax).map((value) => cleanText(column, value))
}

function cleanArray(column: ColumnType, json: string): string {
  return cleanText(column, fitArray(json, column.max))
}

/** The value of a column as JSON for `jsonb_populate_record`. */
export function jsonOf<Source>(column: Column<Source>, source: Source): unknown {
  switch (column.kind) {
    case 'uuid':
    case 'bool':
      return column.from(source) ?? null
    case 'moment':
      return mapped(column.from(source), (ms) => new Date(ms))
    case 'int2':
    case 'int4':
      return mapped(column.from(source), (value) => clamp(value, column.max))
    case 'money':
      return mapped(column.from(source), (value) => String(clampNano(value)))
    case 'text':
      return mapped(column.from(source), (value) => fitText(cleanText(column, value), column.max))
    case 'texts':
      return mapped(column.from(source), (values) =>
        cleanTexts(column, values).map((value) => fitText(value, column.max)),
      )
    case 'array':
      return mapped(column.from(source), (value) => fitText(cleanArray(column, value), column.max))
  }
}

/** The form in which the API shows a value from Postgres. */
export function shownOf({ kind, shownNull }: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return shownNull
  if (value instanceof Date) return value.toISOString()
  return kind === 'array' ? parsed(String(value)) : value
}

/** The column's type in Postgres, as `information_schema.columns.data_type` names it. */
export const sqlTypes: Readonly<Record<ColumnType['kind'], string>> = {
  uuid: 'uuid',
  moment: 'timestamp with time zone',
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  money: 'bigint',
  text: 'text',
  texts: 'ARRAY',
  array: 'text',
}

function mapped<Value>(value: Value | null | undefined, map: (value: Value) => unknown): unknown {
  return value == null ? null : map(value)
}

const int8Max = 9_223_372_036_854_775_807n

/** Sets NaN and numbers below 0 to 0: clocks go back, and upstreams send any number. */
export function clamp(value: number, most: number): number {
  if (!(value > 0)) return 0
  return value > most ? most : Math.trunc(value)
}

function clampNano(value: bigint): bigint {
  if (value > int8Max) return int8Max
  return value < -int8Max ? -int8Max : value
}

/** A JSON array within its bound: it loses its last elements. */
export function fitArray(json: string, unitsMax: number): string {
  if (json.length <= unitsMax) return json
  const elements = parsed(json)
  const kept: string[] = []
  let units = 2
  for (const element of Array.isArray(elements) ? elements : []) {
    const text = JSON.stringify(element)
    units += text.length + 1
    if (units > unitsMax) break
    kept.push(text)
  }
  return `[${kept.join(',')}]`
}

/** An empty list if it does not parse. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return []
  }
}
