import type { Sql } from 'postgres'
import { z } from 'zod'
import { endUserHash } from '../../canonical/end-user-hash.ts'
import type { ImageStorage } from '../../storage/storage.ts'
import type { RowBatch, Subject } from './row-batch.ts'

// Deletes a tenant's data outside the partitions of the usage log.

const files = z.object({ images: z.array(z.object({ file: z.string() })) })
const previews = z.array(z.object({ file: z.string() }))

interface JobFiles {
  id: string
  result: string | null
  partials: string
}

/**
 * Deletes the stored images of the ended jobs of a batch, before the jobs are deleted. Returns the number of
 * images.
 */
export async function removeImagesOf(
  sql: Sql,
  storage: Pick<ImageStorage, 'remove'>,
  { ids }: Pick<RowBatch, 'ids'>,
): Promise<number> {
  const jobs = await sql<JobFiles[]>`
    SELECT id, result, partials FROM jobs WHERE id = ANY (${ids}::uuid[]) AND state NOT IN ('queued', 'running')`
  return await removeFiles(storage, jobs)
}

async function removeFiles(
  storage: Pick<ImageStorage, 'remove'>,
  jobs: readonly JobFiles[],
): Promise<number> {
  const keys = jobs.flatMap(({ result, partials }) => [
    ...(files.safeParse(parsed(result)).data?.images ?? []),
    ...(previews.safeParse(parsed(partials)).data ?? []),
  ])
  for (const { file } of keys) await storage.remove(file)
  return keys.length
}

/**
 * Removes the subject's data outside the log's rows, in bounded steps: its image jobs, whose rows may be
 * archived or missing, its kept answers and files, and, for a whole tenant, its idempotency answers and the
 * record of which channels hold upstream answers. Calls `onRemoved` after each step, which can reject to stop
 * the removal.
 */
export async function removeLeftovers(
  { ask, storage, files }: Places,
  subject: Subject,
  onRemoved: (counts: Record<string, number>) => Promise<void>,
): Promise<void> {
  await removeJobs({ ask, storage }, subject, onRemoved)
  // Deletes the data of background answers whose jobs no longer exist.
  await ask(
    (sql) => sql`
      DELETE FROM background_answers b WHERE NOT EXISTS (SELECT FROM jobs j WHERE j.id = b.job_id)`,
  )
  if (files !== undefined) await removeClientFiles(ask, files, subject, onRemoved)
  await removeKeptAnswers(ask, subject, onRemoved)
  if (subject.endUser === null) await removeOfTenant(ask, subject, onRemoved)
}

interface Places {
  ask: Ask
  storage: Pick<ImageStorage, 'remove'>
  files?: Pick<ImageStorage, 'remove'>
}

/**
 * Deletes each object before its row, so that no object is left without a row. An upload in progress ends
 * without a file.
 */
async function removeClientFiles(
  ask: Ask,
  storage: Pick<ImageStorage, 'remove'>,
  { tenantId, endUser, from, to }: Subject,
  onRemoved: (counts: Record<string, number>) => Promise<void>,
): Promise<void> {
  for (;;) {
    const found = await ask(
      (sql) => sql<{ id: string; object: string }[]>`
        UPDATE files SET state = 'deleted' WHERE id IN (
          SELECT f.id FROM files f
          WHERE f.tenant_id = ${tenantId} AND f.created_at >= ${from ?? new Date(0)} AND f.created_at < ${to}
            ${ofEndUser(sql, endUser)} LIMIT ${most})
        RETURNING id, object`,
    )
    if (found.length === 0) return
    for (const { object } of found) await storage.remove(object)
    const ids = found.map(({ id }) => id)
    const { count } = await ask((sql) => sql`DELETE FROM files WHERE id = ANY (${ids}::text[])`)
    await onRemoved({ files: count })
  }
}

/** Later requests that continue a removed turn are refused with an error that names it. */
async function removeKeptAnswers(
  ask: Ask,
  { tenantId, endUser, from, to }: Subject,
  onRemoved: (counts: Record<string, number>) => Promise<void>,
): Promise<void> {
  for (;;) {
    const { count } = await ask(
      (sql) => sql`
        DELETE FROM kept_answers WHERE (tenant_id, id) IN (
          SELECT k.tenant_id, k.id FROM kept_answers k
          WHERE k.tenant_id = ${tenantId} AND k.created_at >= ${from ?? new Date(0)} AND k.created_at < ${to}
            ${ofEndUser(sql, endUser)} LIMIT ${most})`,
    )
    if (count === 0) return
    await onRemoved({ kept_answers: count })
  }
}

function ofEndUser(sql: Sql, endUser: string | null) {
  return endUser === null ? sql`` : sql`AND end_user_hash = ${endUserHash(endUser)}`
}

async function removeJobs(
  { ask, storage }: { ask: Ask; storage: Pick<ImageStorage, 'remove'> },
  { tenantId, endUser, from, to }: Subject,
  onRemoved: (counts: Record<string, number>) => Promise<void>,
): Promise<void> {
  let last = firstId
  for (;;) {
    const found = await ask(
      (sql) => sql<(JobFiles & { opened: string })[]>`
        SELECT id, opened, result, partials FROM jobs
        WHERE tenant_id = ${tenantId} AND created_at >= ${from ?? new Date(0)} AND created_at < ${to}
          AND state NOT IN ('queued', 'running') AND id > ${last}
          ${endUser === null ? sql`` : sql`AND strpos(opened, ${JSON.stringify(endUser)}) > 0`}
        ORDER BY id LIMIT ${most}`,
    )
    const jobs = endUser === null ? found : found.filter(({ opened }) => isOf(endUser, parsed(opened)))
    if (jobs.length > 0) {
      const images = await removeFiles(storage, jobs)
      const ids = jobs.map(({ id }) => id)
      const { count } = await ask((sql) => sql`DELETE FROM jobs WHERE id = ANY (${ids}::uuid[])`)
      await onRemoved({ images, jobs: count })
    }
    const end = found.at(-1)
    if (end === undefined) return
    last = end.id
  }
}

const firstId = '00000000-0000-0000-0000-000000000000'

function isOf(endUser: string, opened: unknown): boolean {
  return z.object({ endUser: z.literal(endUser) }).safeParse(opened).success
}

async function removeOfTenant(
  ask: Ask,
  { tenantId, from, to }: Subject,
  onRemoved: (counts: Record<string, number>) => Promise<void>,
): Promise<void> {
  const since = from ?? new Date(0)
  const others: Readonly<Record<string, (sql: Sql) => PromiseLike<{ count: number }>>> = {
    idempotency_answers: (sql) => sql`
      DELETE FROM idempotency_keys WHERE (key_id, key_hash) IN (
        SELECT i.key_id, i.key_hash FROM keys k JOIN idempotency_keys i ON i.key_id = k.id
        WHERE k.tenant_id = ${tenantId} AND i.created_at >= ${since} AND i.created_at < ${to} AND i.instance_id IS NULL
        LIMIT ${most})`,
    conversations: (sql) => sql`
      DELETE FROM conversations WHERE (tenant_id, id) IN (
        SELECT c.tenant_id, c.id FROM conversations c
        WHERE c.tenant_id = ${tenantId} AND c.created_at >= ${since} AND c.created_at < ${to} LIMIT ${fewConversations})`,
    conversation_items: (sql) => sql`
      WITH gone AS (
        DELETE FROM conversation_items WHERE (tenant_id, conversation_id, position) IN (
          SELECT i.tenant_id, i.conversation_id, i.position FROM conversation_items i
          WHERE i.tenant_id = ${tenantId} AND i.created_at >= ${since} AND i.created_at < ${to} LIMIT ${most})
        RETURNING conversation_id, bytes),
      gone_of AS (SELECT conversation_id, count(*) AS items, sum(bytes) AS bytes FROM gone GROUP BY conversation_id)
      UPDATE conversations c SET items = c.items - g.items, bytes = c.bytes - g.bytes FROM gone_of g
      WHERE c.tenant_id = ${tenantId} AND c.id = g.conversation_id`,
    held_answers: (sql) => sql`
      DELETE FROM held_answers WHERE (tenant_id, answer_id) IN (
        SELECT h.tenant_id, h.answer_id FROM held_answers h
        WHERE h.tenant_id = ${tenantId} AND h.created_at >= ${since} AND h.created_at < ${to} LIMIT ${most})`,
    key_networks: (sql) => sql`
      DELETE FROM key_networks WHERE (key_id, network) IN (
        SELECT n.key_id, n.network FROM keys k JOIN key_networks n ON n.key_id = k.id
        WHERE k.tenant_id = ${tenantId} AND n.last_request_at >= ${since} AND n.last_request_at < ${to} LIMIT ${most})`,
    key_uses: (sql) => sql`
      DELETE FROM key_uses WHERE key_id IN (
        SELECT u.key_id FROM keys k JOIN key_uses u ON u.key_id = k.id
        WHERE k.tenant_id = ${tenantId} AND u.last_used_at >= ${since} AND u.last_used_at < ${to} LIMIT ${most})`,
  }
  for (const [name, remove] of Object.entries(others)) {
    for (;;) {
      const { count } = await ask(remove)
      if (count === 0) break
      await onRemoved({ [name]: count })
    }
  }
}

type Ask = <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>

const most = 500
/** A small number, because each can have thousands of items. */
const fewConversations = 50

function parsed(json: string | null): unknown {
  try {
    return json === null ? undefined : JSON.parse(json)
  } catch {
    return undefined
  }
}
