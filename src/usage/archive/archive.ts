import type { Database } from '../../db/database.ts'
import type { Terms } from '../../db/pool.ts'
import { type AttemptRow, attemptColumns } from '../../journal/attempt-row.ts'
import type { Column, ColumnDescription, ColumnKind } from '../../journal/column.ts'
import { type DetailRow, type ListRow, requestColumns } from '../../journal/row.ts'
import { momentOf } from '../../journal/tuple.ts'
import { SliceTooLong } from '../log/older-days.ts'
import type { LogRow } from '../log/row-tests.ts'
import type { GroupSelect, Measure, Order } from '../log/slice.ts'
import type { Position } from '../queries.ts'
import { ListAgainError, listAgainMax } from './list-again.ts'
import type { ArchivedTable } from './options.ts'
import { type DayRange, type PartInForce, partsInForce, turnsOfParts } from './parts-in-force.ts'
import type { ArchiveReader, ReaderTerms } from './reader.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

export interface ArchiveNeeds {
  database: Pick<Database, 'reads'>
  reader: ArchiveReader
  /** The maximum total time of a query. */
  readMs: number
  /** The maximum bytes of files that one query reads at once. */
  turnBytes: number
}

/** Selected rows of a time span of the log. */
export interface ArchiveSlice {
  where: SqlCondition
  /** Inclusive. */
  from: Date
  /** Exclusive. */
  to: Date
}

/** The rows that exist only in the archive: those of days that Postgres has dropped. */
export class Archive {
  readonly #needs: ArchiveNeeds

  constructor(needs: ArchiveNeeds) {
    this.#needs = needs
  }

  /** The files with rows in this time span. */
  parts(table: ArchivedTable, span: DayRange, terms: Terms = {}): Promise<PartInForce[]> {
    return partsInForce(this.#needs.database, table, span, terms)
  }

  /**
   * Rows of `requests` in log order, newest first. `searchedTo` is set if time ran out: the rows from this
   * position on were not searched. Rejects like ArchiveReader.ask.
   */
  async rows(
    parts: readonly PartInForce[],
    where: SqlCondition,
    after: Position | undefined,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ rows: ListRow[]; searchedTo?: Position }> {
    const names = namesOf(requestColumns, ['list'])
    const all = after === undefined ? where : allOf([where, before(after)])
    const rows: ListRow[] = []
    const endMs = performance.now() + this.#needs.readMs
    for (const [index, turn] of turnsOfParts(parts, this.#needs.turnBytes).entries()) {
      const leftMs = endMs - performance.now()
      const last = turn.at(-1)
      if (index > 0 && leftMs < this.#needs.readMs / 2) return { rows, searchedTo: endOf(turn) }
      const found = await this.#ask('requests', turn, {
        select: `SELECT ${names} FROM archive WHERE ${all.text} ORDER BY created_at DESC, id DESC LIMIT ${limit - rows.length}`,
        parameters: all.parameters,
        terms: { withinMs: leftMs, signal },
      })
      // Converts DuckDB rows to the form of Postgres rows.
      rows.push(...found.map((row) => asRow(row) as unknown as ListRow))
      if (rows.length >= limit || last === undefined) break
    }
    return { rows }
  }

  /**
   * Sums over the files, in one or more turns whose results the caller adds up. The query reads the table
   * `archive`.
   */
  async *sums(
    parts: readonly PartInForce[],
    select: string,
    where: SqlCondition,
    signal?: AbortSignal,
  ): AsyncGenerator<Record<string, unknown>[]> {
    const endMs = performance.now() + this.#needs.readMs
    for (const turn of turnsOfParts(parts, this.#needs.turnBytes)) {
      yield await this.#ask('requests', turn, {
        select: select.replace('{where}', () => where.text),
        parameters: where.parameters,
        terms: { withinMs: Math.max(1, endMs - performance.now()), signal },
      })
    }
  }

  /**
   * At most `most` rows of a span with all their columns, in the given order or by the highest value first.
   * `to` is exclusive. Lists the files itself and runs one query. Rejects like ArchiveReader.ask, and with
   * SliceTooLong if the files of several days exceed what one query can read.
   */
  async slice(
    { where, from, to, order, most }: ArchiveSlice & { order: Order | Measure; most: number },
    signal?: AbortSignal,
  ): Promise<LogRow[]> {
    const names = namesOf(requestColumns, ['list', 'detail', 'nowhere'])
    const inTime = order === 'newest' ? 'created_at DESC, id DESC' : 'created_at, id'
    const isByTime = order === 'newest' || order === 'oldest'
    const measured = isByTime ? [] : [condition(`${order} IS NOT NULL`)]
    const all = allOf([condition('created_at >= ? AND created_at < ?', from, to), ...measured, where])
    const select = `
      SELECT ${names} FROM archive WHERE ${all.text}
      ORDER BY ${isByTime ? inTime : `${order} DESC, id DESC`} LIMIT ${Math.trunc(most)}`
    const rows = await this.#overSpan({ from, to }, select, all, signal, 'requests', true)
    return rows.map((row) => asRow(row) as unknown as LogRow)
  }

  /**
   * The requests of a span by time and outcome, as decimal digits. `expected` are the files that were in
   * force when Postgres was queried. Undefined if they have changed since, in which case the caller must
   * query both again.
   */
  async counts(
    { where, from, to, bucketMs }: ArchiveSlice & { bucketMs: number },
    expected: readonly PartInForce[],
    signal?: AbortSignal,
  ): Promise<{ starts_ms: string; outcome: string; requests: string }[] | undefined> {
    const bucket = Math.trunc(bucketMs)
    const rows = await this.#grouped({ where, from, to }, expected, signal, {
      before: `SELECT (epoch_ms(created_at) // ${bucket}) * ${bucket} AS starts_ms, outcome, sum(folded) AS requests FROM archive WHERE`,
      after: 'GROUP BY 1, 2',
    })
    return rows?.map((row) => ({
      starts_ms: String(row.starts_ms),
      outcome: String(row.outcome),
      requests: String(row.requests),
    }))
  }

  /** The groups of a statement. `expected` has the same meaning as in `counts`. */
  async groups<Row extends object>(
    { select, ...slice }: ArchiveSlice & { select: GroupSelect },
    expected: readonly PartInForce[],
    signal?: AbortSignal,
  ): Promise<Row[] | undefined> {
    const rows = await this.#grouped(slice, expected, signal, select('archive'))
    return rows?.map((row) => asRow(row) as Row)
  }

  async #grouped(
    { where, from, to }: ArchiveSlice,
    expected: readonly PartInForce[],
    signal: AbortSignal | undefined,
    { before, after }: { before: string; after: string },
  ): Promise<Record<string, unknown>[] | undefined> {
    const parts = await this.parts('requests', { from, to }, signal === undefined ? {} : { signal })
    if (JSON.stringify(parts) !== JSON.stringify(expected)) return undefined
    if (parts.length === 0) return []
    this.#requireOneTurn(parts)
    const { text, parameters } = allOf([condition('created_at >= ? AND created_at < ?', from, to), where])
    const terms = { withinMs: this.#needs.readMs, signal }
    return await this.#ask('requests', parts, { select: `${before} ${text} ${after}`, parameters, terms })
  }

  /** One row, if it matches the condition. */
  async find(
    id: string,
    where: SqlCondition,
    signal?: AbortSignal,
  ): Promise<(DetailRow & { price_id: string | null }) | undefined> {
    const all = allOf([where, condition('id = ? AND created_at = ?', id, new Date(momentOf(id)))])
    const names = `${namesOf(requestColumns, ['list', 'detail'])}, price_id`
    const rows = await this.#ofRequest(
      'requests',
      id,
      `SELECT ${names} FROM archive WHERE ${all.text}`,
      all,
      signal,
    )
    const [row] = rows
    return row === undefined ? undefined : (asRow(row) as unknown as DetailRow & { price_id: string | null })
  }

  async attempts(id: string, signal?: AbortSignal): Promise<AttemptRow[]> {
    const names = namesOf(attemptColumns, ['list'])
    const where = ofRequest(id)
    const select = `SELECT ${names} FROM archive WHERE ${where.text} ORDER BY ordinal`
    const rows = await this.#ofRequest('attempts', id, select, where, signal)
    return rows.map((row) => asRow(row) as unknown as AttemptRow)
  }

  /**
   * The credentials of a request's attempts, in order, as short hashes. Null if none was used or it is
   * unknown.
   */
  async credentials(id: string, signal?: AbortSignal): Promise<(string | null)[]> {
    const where = ofRequest(id)
    const select = `SELECT credential FROM archive WHERE ${where.text} ORDER BY ordinal`
    const rows = await this.#ofRequest('attempts', id, select, where, signal)
    return rows.map(({ credential }) => (typeof credential === 'string' ? credential : null))
  }

  async payload(id: string, signal?: AbortSignal): Promise<{ capture: string; body: string } | undefined> {
    const where = ofRequest(id)
    const select = `SELECT capture, body FROM archive WHERE ${where.text}`
    const [row] = await this.#ofRequest('request_payloads', id, select, where, signal)
    return row === undefined ? undefined : { capture: String(row.capture), body: String(row.body) }
  }

  async answer(
    id: string,
    signal?: AbortSignal,
  ): Promise<{ capture: string; truncated: boolean; answer: string } | undefined> {
    const where = ofRequest(id)
    const select = `SELECT capture, truncated, answer FROM archive WHERE ${where.text}`
    const [row] = await this.#ofRequest('request_answers', id, select, where, signal)
    return row === undefined
      ? undefined
      : { capture: String(row.capture), truncated: row.truncated === true, answer: String(row.answer) }
  }

  async #ofRequest(
    table: ArchivedTable,
    id: string,
    select: string,
    { parameters }: SqlCondition,
    signal: AbortSignal | undefined,
  ): Promise<Record<string, unknown>[]> {
    const at = new Date(momentOf(id))
    return await this.#overSpan({ from: at, to: at }, select, { parameters }, signal, table)
  }

  async #overSpan(
    span: DayRange,
    select: string,
    { parameters }: Pick<SqlCondition, 'parameters'>,
    signal: AbortSignal | undefined,
    table: ArchivedTable = 'requests',
    inOneTurn = false,
  ): Promise<Record<string, unknown>[]> {
    const terms = signal === undefined ? {} : { signal }
    for (let attempt = 0; ; attempt++) {
      const parts = await this.parts(table, span, terms)
      if (parts.length === 0) return []
      if (inOneTurn) this.#requireOneTurn(parts)
      try {
        return await this.#ask(table, parts, {
          select,
          parameters,
          terms: { withinMs: this.#needs.readMs, signal },
        })
      } catch (error) {
        if (!(error instanceof ListAgainError) || attempt === listAgainMax) throw error
      }
    }
  }

  #requireOneTurn(parts: readonly PartInForce[]): void {
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
    // A span of one day can touch two calendar days.
    if (bytes > this.#needs.turnBytes && new Set(parts.map(({ day }) => day)).size > 2)
      throw new SliceTooLong('archive_query_large', { bytes })
  }

  #ask(
    table: ArchivedTable,
    parts: readonly PartInForce[],
    { select, parameters, terms }: Pick<SqlCondition, 'parameters'> & { select: string; terms: ReaderTerms },
  ): Promise<Record<string, unknown>[]> {
    const files = parts.map(({ location, bytes, sha256 }) => ({ location, bytes, sha256 }))
    return this.#needs.reader.ask({ parts: files, columns: typesOf[table], select, parameters }, terms)
  }
}

/** The condition for rows after a position. */
function before({ createdAt, id }: Position): SqlCondition {
  return condition('created_at < ? OR (created_at = ? AND id < ?)', createdAt, createdAt, id)
}

function ofRequest(id: string): SqlCondition {
  return condition('request_id = ? AND created_at = ?', id, new Date(momentOf(id)))
}

/** The position just before the newest row of a turn in log order. */
function endOf(turn: readonly PartInForce[]): Position {
  const newestMs = Math.max(...turn.map(({ lastAt }) => lastAt.getTime()))
  return { createdAt: new Date(newestMs + 1), id: leastId }
}

const leastId = '00000000-0000-0000-0000-000000000000'

/** Converts a row to the types that postgres.js returns, where int8 is text. */
function asRow(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  )
}

function namesOf(columns: readonly ColumnDescription[], shown: readonly string[]): string {
  return columns.flatMap((column) => (shown.includes(column.shown) ? [column.name] : [])).join(', ')
}

const duckTypes: Readonly<Record<ColumnKind, string>> = {
  uuid: 'VARCHAR',
  moment: 'TIMESTAMPTZ',
  bool: 'BOOLEAN',
  int2: 'SMALLINT',
  int4: 'INTEGER',
  money: 'BIGINT',
  text: 'VARCHAR',
  texts: 'VARCHAR[]',
  array: 'VARCHAR',
}

function typed(columns: readonly Pick<Column<never>, 'name' | 'kind'>[]): { name: string; type: string }[] {
  return columns.map(({ name, kind }) => ({ name, type: duckTypes[kind] }))
}

const typesOf: Readonly<Record<ArchivedTable, { name: string; type: string }[]>> = {
  requests: typed(requestColumns),
  // A newer column: DuckDB returns NULL for files without it.
  attempts: [
    ...typed(attemptColumns).filter(({ name }) => name !== 'credential'),
    { name: 'credential', type: 'VARCHAR' },
  ],
  request_payloads: [
    { name: 'request_id', type: 'VARCHAR' },
    { name: 'created_at', type: 'TIMESTAMPTZ' },
    { name: 'capture', type: 'VARCHAR' },
    { name: 'body', type: 'VARCHAR' },
  ],
  request_answers: [
    { name: 'request_id', type: 'VARCHAR' },
    { name: 'created_at', type: 'TIMESTAMPTZ' },
    { name: 'capture', type: 'VARCHAR' },
    { name: 'truncated', type: 'BOOLEAN' },
    { name: 'answer', type: 'VARCHAR' },
  ],
}
