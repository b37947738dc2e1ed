import type { Sql } from 'postgres'
import {
  nextBatch,
  noCounts,
  partitionsOf,
  type RemovedCounts,
  type RowBatch,
  type RowPosition,
  type Subject,
} from './row-batch.ts'

/** Counts what an erasure would remove, batch by batch. `onBatch` can reject to stop the count. */
export async function countSubject(
  ask: <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>,
  subject: Subject,
  batchRows: number,
  onBatch: () => Promise<void>,
): Promise<RemovedCounts> {
  const counts = noCounts()
  for (const table of await ask((sql) => partitionsOf(sql, subject))) {
    let after: RowPosition | undefined
    for (;;) {
      const batch = await ask((sql) => nextBatch(sql, table, subject, { after, most: batchRows }))
      if (batch === undefined) break
      const found = await ask((sql) => countBatch(sql, batch))
      counts.rows += batch.ids.length
      counts.bodies += found.bodies
      counts.answers += found.answers
      counts.attempts += found.attempts
      counts.jobs += found.jobs
      counts.tags += found.tags
      after = { at: batch.last, id: batch.ids.at(-1) ?? '' }
      await onBatch()
    }
  }
  return counts
}

type Found = Pick<RemovedCounts, 'bodies' | 'answers' | 'attempts' | 'jobs' | 'tags'>

async function countBatch(sql: Sql, { table, ids, first, last }: RowBatch): Promise<Found> {
  const of = (name: string) => sql`
    (SELECT count(*)::integer FROM ${sql(name)} WHERE request_id = ANY (${ids}::uuid[]) AND created_at BETWEEN ${first} AND ${last})`
  const [found] = await sql<Found[]>`
    SELECT ${of('request_payloads')} AS bodies, ${of('request_answers')} AS answers, ${of('attempts')} AS attempts,
      (SELECT count(*)::integer FROM jobs WHERE id = ANY (${ids}::uuid[])) AS jobs,
      (SELECT coalesce(sum(cardinality(tags)), 0)::integer FROM ${sql(table)} WHERE id = ANY (${ids}::uuid[])) AS tags`
  return found ?? { bodies: 0, answers: 0, attempts: 0, jobs: 0, tags: 0 }
}
