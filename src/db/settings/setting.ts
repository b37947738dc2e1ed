import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { PgColumnBuilderBase } from '../drizzle.cjs'

/**
 * One setting of a resource in each of its forms: its `Entry` in gateway.yaml and in bodies of the API, its
 * `Part` of the resource under our own names, its `Columns`, and how it is `Shown` by the API.
 */
interface Setting<Entry extends z.ZodType, Part, Columns, Shown extends z.ZodType> {
  entry: Entry
  part(value: z.output<Entry>): Part
  columns(): Columns
  /** Returns what the columns hold. `existing`: the row that is changed. */
  write(part: Part, existing?: Stored<Columns>): Stored<Columns>
  read(row: Stored<Columns>): Part
  shown: Shown
  json(part: Part): z.output<Shown>
  /** What an export always states. Absent: what the API shows, unless it is the default. */
  exported?(part: Part): unknown
  form?: FormOfSetting
}

/** A setting's fields in the console's form, by member if it is a map. Absent: the form does not have it. */
export type FormOfSetting = FieldOfForm | Readonly<Record<string, FieldOfForm>>

/** A field of the console's form. */
export interface FieldOfForm {
  /** The title of its section. */
  section: string
  label: string
  /** `pairs`: a map from names to texts. */
  kind: 'text' | 'words' | 'integer' | 'usd' | 'tags' | 'switch' | 'choice' | 'moment' | 'pairs'
  about?: string
  placeholder?: string
  /** Of a `choice`, labels by value. The empty value is the default, null for the API. */
  options?: Readonly<Record<string, string>>
  /** A `choice` between yes and no. */
  isBoolean?: true
  /** Of `tags`: true is the tag `*`, and false is no tag. */
  isAllOrSome?: true
  /** Of `pairs`: what one of them is called. */
  one?: string
  /** Of `pairs`: the API never shows their values. */
  isSecret?: true
  /** The names that it suggests. */
  suggests?: 'models' | 'channels'
  /** It is the last of its section. */
  isLast?: true
}

type Stored<Columns> = {
  [Name in keyof Columns]: Columns[Name] extends { _: { data: infer Data; notNull: infer NotNull } }
    ? Narrowed<Columns[Name], Data> | (NotNull extends true ? never : null)
    : unknown
}

/** What `$type` says of a column. */
type Narrowed<Column, Data> = Column extends { _: { $type: infer Own } } ? Own : Data

/** A setting of one column that holds its value as it is. Absent is NULL. */
export function setting<
  const Own extends string,
  Entry extends z.ZodType,
  Column extends PgColumnBuilderBase,
  Shown extends z.ZodType,
>(
  own: Own,
  of: { entry: Entry; column(): Column; shown: Shown } & Pick<AnySetting, 'exported' | 'form'>,
): Setting<Entry, Record<Own, z.output<Entry>>, Record<Own, Column>, Shown>
export function setting(
  own: string,
  { column, ...of }: { column(): unknown } & Pick<AnySetting, 'entry' | 'shown' | 'exported' | 'form'>,
): AnySetting {
  return {
    ...of,
    part: (value) => ({ [own]: value }),
    columns: () => ({ [own]: column() }),
    write: (part) => ({ [own]: part[own] ?? null }),
    read: (row) => ({ [own]: row[own] ?? undefined }),
    json: (part) => part[own] ?? null,
  }
}

/** A setting with columns of its own kind. */
export function settingOf<Entry extends z.ZodType, Part, Columns, Shown extends z.ZodType>(
  of: Setting<Entry, Part, Columns, Shown>,
): Setting<Entry, Part, Columns, Shown> {
  return of
}

/** For what is the same for every setting. */
type AnySetting = Setting<z.ZodType, Json, Json, z.ZodType>

/** The settings of a resource by their names in gateway.yaml and in the API. */
export type SettingTable = Readonly<Record<string, AnySetting>>

/** A resource's settings under our own names. */
export type SettingValues<S extends SettingTable> = Flat<All<ReturnType<S[keyof S]['part']>>>
type ColumnsOf<S extends SettingTable> = Flat<All<ReturnType<S[keyof S]['columns']>>>
export type StoredSettings<S extends SettingTable> = Stored<ColumnsOf<S>>

type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never
type Flat<T> = { [Name in keyof T]: T[Name] }

/** Returns a part of each setting: the members of a schema. */
export function membersOf<
  S extends Readonly<Record<string, Record<Member, unknown>>>,
  Member extends 'entry' | 'shown',
>(settings: S, member: Member): { [Name in keyof S]: S[Name][Member] }
export function membersOf(settings: Readonly<Record<string, Json>>, member: 'entry' | 'shown'): Json {
  return Object.fromEntries(Object.entries(settings).map(([name, each]) => [name, each[member]]))
}

/** Returns builders of the columns, for one table. */
export function columnsOf<S extends SettingTable>(settings: S): ColumnsOf<S> {
  return Object.assign({}, ...Object.values(settings).map((each) => each.columns()))
}

/** Returns the settings of an entry that has been checked. */
export function valuesOf<S extends SettingTable>(settings: S, entry: Json): SettingValues<S> {
  return Object.assign({}, ...Object.entries(settings).map(([name, each]) => each.part(entry[name])))
}

/** Returns the settings of an entry that states none. */
export function defaultsOf<S extends SettingTable>(settings: S): SettingValues<S> {
  return Object.assign({}, ...Object.values(settings).map((each) => each.part(each.entry.parse(undefined))))
}

/** Returns what the columns of the settings hold. `existing`: the row that is changed. */
export function toRow<S extends SettingTable>(
  settings: S,
  values: SettingValues<S>,
  existing?: StoredSettings<S>,
): StoredSettings<S> {
  return Object.assign({}, ...Object.values(settings).map((each) => each.write(values, existing)))
}

export function fromRow<S extends SettingTable>(settings: S, row: StoredSettings<S>): SettingValues<S> {
  return Object.assign({}, ...Object.values(settings).map((each) => each.read(row)))
}

/** Returns the settings of a row as the API shows them. */
export function jsonOf<S extends SettingTable>(
  settings: S,
  row: StoredSettings<S>,
): { [Name in keyof S]: z.output<S[Name]['shown']> }
export function jsonOf(settings: SettingTable, row: Json): Json {
  return Object.fromEntries(Object.entries(settings).map(([name, each]) => [name, each.json(each.read(row))]))
}

/** Returns the settings of a row in the vocabulary of gateway.yaml, without those that are the default. */
export function exportOf<S extends SettingTable>(settings: S, row: StoredSettings<S>): Json
export function exportOf(settings: SettingTable, row: Json): Json {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, each]) => {
      const part = each.read(row)
      if (each.exported !== undefined) return [[name, each.exported(part)]]
      const words = withoutNulls(each.json(part))
      const usual = withoutNulls(each.json(each.part(each.entry.parse(undefined))))
      return words === undefined || isDeepStrictEqual(words, usual) ? [] : [[name, words]]
    }),
  )
}

/** A map without its null members; undefined if nothing is left. */
function withoutNulls(words: unknown): unknown {
  if (!isRecord(words)) return words ?? undefined
  const members = Object.entries(words).filter(([, value]) => value !== null)
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
