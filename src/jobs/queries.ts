import type { TypedQueries } from '../db/connections.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  or,
  sql,
} from '../db/drizzle.cjs'
import { firstIdAt } from '../db/first-id.ts'
import { backgroundAnswers, jobs } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { RowScope } from '../usage/log/row-tests.ts'
import type { Job, JobKind, JobState, Lease } from './job.ts'

/** A row of `jobs`, without the encrypted columns. */
export type JobRow = Omit<typeof jobs.$inferSelect, keyof typeof unread> & Pick<Job, 'kind' | 'events'>

const { request, body, enqueuedAt, notBefore, leasedUntil, channelId, webhookUrl, webhookAt, ...ownColumns } =
  getTableColumns(jobs)
const unread = { request, body, enqueuedAt, notBefore, leasedUntil, channelId, webhookUrl, webhookAt }
const isAnswer = sql`is_answer_job(${jobs.id})`
const jobColumns = {
  ...ownColumns,
  kind: sql<JobKind>`CASE WHEN ${isAnswer} THEN 'answer' ELSE 'image' END`,
  events: sql<number>`coalesce((SELECT b.events FROM background_answers b WHERE b.job_id = ${jobs.id}), 0)`,
}
const isOf = (kind: JobKind) => (kind === 'answer' ? isAnswer : sql`NOT ${isAnswer}`)

// A literal, because Postgres's generic plan for a parameter could not use the partial indexes.
const isQueued = sql`${jobs.state} = 'queued'`
const isRunning = sql`${jobs.state} = 'running'`
const isUndelivered = sql`${jobs.webhookState} = 'pending'`
const isDue = lte(jobs.webhookAt, sql`now()`)

export async function readJobs(db: TypedQueries, ids: readonly string[]): Promise<JobRow[]> {
  return await db
    .select(jobColumns)
    .from(jobs)
    .where(sql`${jobs.id} = any (${sql.param(ids)}::uuid[])`)
}

/** Reads the job with its encrypted request, which is null if the job has ended. */
export async function readJobToRun(
  db: TypedQueries,
  id: string,
): Promise<(JobRow & { request: Buffer | null }) | undefined> {
  const [row] = await db
    .select({ ...jobColumns, request })
    .from(jobs)
    .where(eq(jobs.id, id))
  return row
}

/** Lists jobs of one kind of a tenant or one of its keys, newest first, older than `before`. */
export async function listJobs(
  db: TypedQueries,
  { tenantId, keyId }: RowScope,
  { kind, before, state, limit }: JobPage,
): Promise<JobRow[]> {
  // Includes only the given conditions, and the limit as text: a generic plan would read all of the tenant's
  // jobs.
  return await db
    .select(jobColumns)
    .from(jobs)
    .where(
      and(
        eq(jobs.tenantId, tenantId),
        isOf(kind),
        keyId === null ? undefined : eq(jobs.keyId, keyId),
        before === undefined ? undefined : lt(jobs.id, before),
        state === undefined ? undefined : eq(jobs.state, state),
      ),
    )
    .orderBy(sql`${jobs.id} desc limit ${sql.raw(String(Math.trunc(limit)))}`)
}

export interface JobPage {
  kind: JobKind
  before: string | undefined
  state: JobState | undefined
  limit: number
}

export interface JobFilter {
  kind: JobKind
  tenantId?: string | undefined
  state?: JobState | undefined
  model?: string | undefined
  /** The name of a channel that was called. */
  channel?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  before: string | undefined
  limit: number
}

/**
 * Lists jobs of all tenants, newest first. Ids are in chronological order, so `from` and `to` limit what is
 * read.
 */
export async function findJobs(db: Queries, filter: JobFilter): Promise<JobRow[]> {
  const { kind, tenantId, state, model, channel, from, to, before, limit } = filter
  const asked = channel === undefined ? undefined : `%${likeText(JSON.stringify({ channel }).slice(1, -1))}%`
  return await db
    .select(jobColumns)
    .from(jobs)
    .where(
      and(
        isOf(kind),
        tenantId === undefined ? undefined : eq(jobs.tenantId, tenantId),
        state === undefined ? undefined : eq(jobs.state, state),
        model === undefined ? undefined : eq(jobs.model, model),
        asked === undefined ? undefined : sql`${jobs.attempts} LIKE ${asked}`,
        from === undefined ? undefined : gte(jobs.id, firstIdAt(from.getTime())),
        to === undefined ? undefined : lt(jobs.id, firstIdAt(to.getTime())),
        before === undefined ? undefined : lt(jobs.id, before),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(limit)
}

const likeText = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/** The number of waiting jobs of the same tenant and kind that will run before this one. */
export async function countBefore(
  db: TypedQueries,
  { id, kind, tenantId, priority }: Pick<Job, 'id' | 'kind' | 'tenantId' | 'priority'>,
): Promise<number> {
  const isBefore = and(
    eq(jobs.tenantId, tenantId),
    isOf(kind),
    isQueued,
    ne(jobs.id, id),
    or(gt(jobs.priority, priority), and(eq(jobs.priority, priority), lt(jobs.id, id))),
  )
  // Each condition has its own index, which contains no ended jobs.
  const [outside, inside] = await Promise.all(
    [isNull(jobs.enqueuedAt), isNotNull(jobs.enqueuedAt)].map((where) =>
      db.select({ jobs: count() }).from(jobs).where(and(isBefore, where)),
    ),
  )
  return (outside?.[0]?.jobs ?? 0) + (inside?.[0]?.jobs ?? 0)
}

/** Returns false if the lease is lost. */
export async function setAttempts(db: TypedQueries, lease: Lease, attempts: string): Promise<boolean> {
  const changed = await db.update(jobs).set({ attempts }).where(isLeased(lease)).returning({ id: jobs.id })
  return changed.length === 1
}

/** Notifies the job's watchers. Returns false if the lease is lost. */
export async function setPartials(db: TypedQueries, lease: Lease, partials: string): Promise<boolean> {
  const changed = await db.update(jobs).set({ partials }).where(isLeased(lease)).returning(notify)
  return changed.length === 1
}

/** Notifies the job's worker. Returns false if no worker runs the job. */
export async function requestCancel(db: TypedQueries, id: string): Promise<boolean> {
  const changed = await db
    .update(jobs)
    .set({ cancelRequested: true })
    .where(and(eq(jobs.id, id), isRunning))
    .returning(notify)
  return changed.length === 1
}

const notify = { notified: sql`pg_notify('tollgate_jobs', ${jobs.id}::text)` }

function isLeased({ id, fence }: Lease) {
  return and(eq(jobs.id, id), eq(jobs.fence, fence), isRunning)
}

/** Returns the ids of jobs whose webhook is due, oldest first, at most 1000. */
export async function listDueWebhooks(db: TypedQueries): Promise<string[]> {
  const due = await db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(isUndelivered, isDue))
    .orderBy(asc(jobs.webhookAt))
    .limit(1000)
  return due.map(({ id }) => id)
}

/** Returns the job with its encrypted webhook, if that is due. */
export async function readDueWebhook(
  db: TypedQueries,
  id: string,
): Promise<(JobRow & { webhookUrl: Buffer | null }) | undefined> {
  const [row] = await db
    .select({ ...jobColumns, webhookUrl })
    .from(jobs)
    .where(and(eq(jobs.id, id), isUndelivered, isDue))
  return row
}

/** Records one delivery. `againMs` is the time until the next one. */
export async function countDelivery(
  db: TypedQueries,
  id: string,
  state: 'pending' | 'delivered' | 'failed',
  againMs: number,
): Promise<void> {
  await db
    .update(jobs)
    .set({
      webhookState: state,
      webhookTries: sql`${jobs.webhookTries} + 1`,
      webhookAt: sql`now() + ${againMs}::integer * interval '1 ms'`,
    })
    .where(and(eq(jobs.id, id), isUndelivered))
}

/**
 * Deletes ended jobs of a kind that are older than the given moment. Resolves to the number of deleted jobs.
 */
export async function deleteEndedJobs(db: TypedQueries, kind: JobKind, moment: Date): Promise<number> {
  const deleted = await db
    .delete(jobs)
    .where(
      and(
        lt(jobs.createdAt, moment),
        lt(ageOf(kind), moment),
        sql`${jobs.state} NOT IN ('queued', 'running')`,
        isOf(kind),
      ),
    )
  return deleted.count
}

/** Deletes the remaining data of background answers whose jobs are gone. */
export async function deleteLeftAnswers(db: TypedQueries): Promise<void> {
  await db
    .delete(backgroundAnswers)
    .where(sql`NOT EXISTS (SELECT FROM jobs j WHERE j.id = ${backgroundAnswers.jobId})`)
}

/**
 * The moment from which the age of a job counts. An answer counts from its end, because it can wait and run
 * for long.
 */
function ageOf(kind: JobKind) {
  return kind === 'answer' ? jobs.finishedAt : jobs.createdAt
}
