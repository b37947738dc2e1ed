import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onTestFinished } from 'vitest'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { openDuck } from '../../src/usage/archive/duck.ts'
import { type ArchivedTable, type ArchiverOptions, archivedTables } from '../../src/usage/archive/options.ts'
import { removeArchived } from '../../src/usage/archive/remove-archived.ts'
import { sha256Of } from '../../src/usage/archive/sha256.ts'
import type { RemoveArchived } from '../../src/usage/erasure/work.ts'
import type { ErasureBed, SeededTenant } from './erasure-bed.ts'

/** The archive of a bed, in files that DuckDB reads. Postgres keeps five days. */
export async function archiveBeside({ url, sql }: ErasureBed) {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-erasure-'))
  const place = join(directory, 'archive')
  const options: ArchiverOptions = {
    databaseUrl: url,
    place: { kind: 'files', directory: place },
    staging: join(directory, 'staging'),
    duck: { memoryBytes: 256 * 1024 * 1024, threads: 1 },
    hotDays: 5,
    rowDays: 400,
    payloadDays: 400,
    answerDays: 400,
  }
  const duck = await openDuck(options.duck, join(directory, 'scratch'), [place])
  const connection = await duck.connect()
  onTestFinished(() => {
    duck.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const inForce = (table?: ArchivedTable) => sql<{ location: string; sha256: string; rows: string }[]>`
    SELECT location, sha256, rows FROM archived_days WHERE state = 'dropped' AND location IS NOT NULL
      ${table === undefined ? sql`` : sql`AND table_name = ${table}`} ORDER BY 1`
  const files = () =>
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(place, join(entry.parentPath, entry.name)))
      .sort()
  const read = async (table: ArchivedTable, select = '*', where = 'true', order = '1') => {
    const paths = (await inForce(table)).map(({ location }) => `'${join(place, location)}'`)
    if (paths.length === 0) return []
    const answer = await connection.runAndReadAll(
      `SELECT ${select} FROM read_parquet([${paths.join(', ')}], union_by_name = true) AS row WHERE ${where} ORDER BY ${order}`,
    )
    return answer.getRowObjectsJson()
  }
  const remove: RemoveArchived = async (days, removals, signal) => {
    const report = await removeArchived(options, days, removals, signal)
    return report === null ? null : { ...report }
  }
  return {
    options,
    files,
    read,
    remove,
    async pass(): Promise<void> {
      const pass = await archivePass(options)
      if (pass === undefined || pass.failed.length + pass.postponed > 0)
        throw new Error(`the archive has not all days: ${JSON.stringify(pass)}`)
    },
    /** Files with this text: in a value that DuckDB reads, or in the bytes, where a footer has the least and the greatest values. */
    async holders(text: string): Promise<string[]> {
      const holders = files().filter((file) => readFileSync(join(place, file)).includes(text))
      for (const table of archivedTables) {
        const rows = await read(table, 'count(*)::INTEGER AS hits', `contains(row::VARCHAR, '${text}')`)
        if (Number(rows[0]?.hits ?? 0) > 0) holders.push(`rows of ${table}`)
      }
      return holders
    },
    /** The rows of a tenant without what may go. */
    facts: ({ id, marker }: SeededTenant) =>
      read(
        'requests',
        `* EXCLUDE (end_user, session, tags, error_message, notes, upstream_request_id, client_address, user_agent, idempotency_key)
          REPLACE (CASE WHEN contains(requested_model, '${marker}') THEN NULL ELSE requested_model END AS requested_model)`,
        `tenant_id = '${id}'`,
        'id',
      ),
    /** All that the archive has of a tenant. */
    async all({ id }: SeededTenant) {
      const ids = (await read('requests', 'id', `tenant_id = '${id}'`)).map((row) => `'${row.id}'`)
      const of = `request_id IN (${ids.length === 0 ? 'NULL' : ids.join(', ')})`
      return {
        requests: await read('requests', '*', `tenant_id = '${id}'`, 'id'),
        attempts: await read('attempts', '*', of, 'request_id, ordinal'),
        bodies: await read('request_payloads', '*', of, 'request_id'),
        answers: await read('request_answers', '*', of, 'request_id'),
      }
    },
    /** What is wrong with the files: one that is missing, damaged, or that no one knows. */
    async faults(): Promise<string[]> {
      const known = await inForce()
      const faults = files().filter((file) => !known.some(({ location }) => location === file))
      for (const { location, sha256 } of known) {
        if ((await sha256Of(join(place, location)).catch(() => 'missing')) !== sha256) faults.push(location)
      }
      for (const table of archivedTables) {
        const rows = await read(table, 'count(*)::INTEGER AS rows')
        const noted = (await inForce(table)).reduce((sum, part) => sum + Number(part.rows), 0)
        if (Number(rows[0]?.rows ?? 0) !== noted) faults.push(`${table} has other rows than its record`)
      }
      return faults
    },
  }
}
