import { messageCharactersMax, redactText } from '../redaction/redact.ts'
import { fitText, type TupleWriter } from './tuple.ts'

/**
 * A kind of column and its limit. Every writer of a row removes secrets from its texts and truncates or
 * clamps values beyond the limit, so that Postgres never rejects a row because of them.
 * All types have the same members in the same order, because V8 then reads them several times faster.
 */
interface ColumnType<Kind extends keyof Kinds = keyof Kinds, Nullable extends boolean = boolean> {
  readonly kind: Kind
  /** The highest number, or the maximum UTF-16 units of a text. */
  readonly max: number
  /** The maximum number of texts in a list. */
  readonly countMax: number
  /** If true, null means an unknown value. */
  readonly nullable: Nullable
  /** Why its texts are written without being searched for secrets; undefined if they are searched. */
  readonly trusted: string | undefined
  /** The value that the API shows for null. */
  readonly shownNull: unknown
}

export type ColumnKind = keyof Kinds

/** The type of each kind in a record (`kept`) and in a result from Postgres (`read`). */
interface Kinds {
  uuid: { kept: string; read: string }
  /** Milliseconds since the epoch. */
  moment: { kept: number; read: Date }
  bool: { kept: boolean; read: boolean }
  /** Integers from 0 to `max`. */
  int2: { kept: number; read: number }
  int4: { kept: number; read: number }
  /** Nano-USD; decimal digits in JSON. */
  money: { kept: bigint; read: string }
  /** A longer text is truncated at the end. */
  text: { kept: string; read: string }
  texts: { kept: readonly string[]; read: readonly string[] }
  /**
   * The JSON text of an array. If it is too long, it loses its last elements, so that it remains valid JSON.
   */
  array: { kept: string; read: string }
}

export const uuid = type('uuid')
export const moment = type('moment')
export const bool = type('bool')
export const int2 = type('int2', 32_767)
export const int4 = type('int4', 2_147_483_647)
export const money = type('money')
/** A word that the gateway itself defines. */
export const word = trusted(type('text', 64), 'the gateway has a list of these words, or computes them')
/**
 * Short enough for an index: an index entry can hold 2,704 bytes, which is enough for the longest `name` and
 * the longest `longName` together.
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
 * The same type, written without being searched for secrets. `why` explains why neither a client nor an
 * upstream can choose the text.
 */
export function trusted<Kind extends keyof Kinds>(type: ColumnType<Kind, false>, why: string) {
  return { ...type, trusted: why }
}

/** The same type, but nullable. `shownNull` is the value that the API shows for null. */
export function orNull<Kind extends keyof Kinds>(
  type: ColumnType<Kind>,
  shownNull: unknown = null,
): ColumnType<Kind, true> {
  return { ...type, nullable: true, shownNull }
}

/** Where the API shows a column: in lists and details, only in details, or nowhere. */
export type Shown = 'list' | 'detail' | 'nowhere'

/**
 * `content`: what people wrote, who they are, or what points to it. An erasure sets it to NULL, so the column
 * must be nullable. `facts`: ids, times, models, tokens, money and words defined by the gateway, which are
 * kept.
 */
export type Holds = 'content' | 'facts'

/** The parts of a column that document it. */
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

/** A row of these columns as returned by Postgres. */
export type RowOf<Columns extends ColumnDescription & ColumnType> = {
  [Each in Columns as Each['name']]:
    | Kinds[Each['kind']]['read']
    | (Each['nullable'] extends true ? null : never)
}

/**
 * Returns a function that makes columns whose values come from a `Source`. `member` defaults to the column's
 * name.
 */
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

/**
 * Appends these columns to a tuple in one call, because separate calls would cost as much as writing the
 * bytes.
 */
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

/** The text without secrets. It can still be longer than the column allows. */
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

/** Converts a value from Postgres to the form shown by the API. */
export function shownOf({ kind, shownNull }: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return shownNull
  if (value instanceof Date) return value.toISOString()
  return kind === 'array' ? parsed(String(value)) : value
}

/** The Postgres types of the columns, as named in `information_schema.columns.data_type`. */
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

/** Sets NaN and negative numbers to 0, because clocks can go back and upstreams can send any number. */
export function clamp(value: number, most: number): number {
  if (!(value > 0)) return 0
  return value > most ? most : Math.trunc(value)
}

function clampNano(value: bigint): bigint {
  if (value > int8Max) return int8Max
  return value < -int8Max ? -int8Max : value
}

/** Shortens a JSON array to its limit by removing its last elements. */
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

/** Returns an empty list if the text cannot be parsed. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return []
  }
}
