import type { Fragment, Sql } from 'postgres'
import { insertOfAnswer, type KeptScope, type NewKeptRow, type TurnClaimant } from './kept-queries.ts'

/** The caller. A key with `usage_scope: key` finds only the conversations that it created itself. */
export type ConversationScope = Pick<KeptScope, 'tenantId' | 'keyId'>

export interface ConversationRow {
  created_at: Date
  metadata: Buffer
}

export interface ItemRow {
  item_id: string
  content: Buffer
}

/** An item whose content is encrypted. */
export interface SealedItem {
  id: string
  isSent: boolean
  content: Buffer
}

/** Returns undefined when the tenant has reached its maximum. */
export async function insertConversation(
  sql: Sql,
  row: { tenantId: string; id: string; keyId: string; metadata: Buffer; days: number },
  items: readonly SealedItem[],
  most: number,
): Promise<Date | undefined> {
  const { tenantId, id, keyId, metadata, days } = row
  const [made] = await sql<{ created_at: Date }[]>`
    WITH made AS (
      INSERT INTO conversations (tenant_id, id, key_id, created_at, expires_at, next_position, items, bytes, metadata)
      SELECT ${tenantId}::uuid, ${id}, ${keyId}::uuid, now(), now() + make_interval(days => ${days}),
        ${items.length}::integer, ${items.length}::integer, ${sealedBytes(items) + metadata.length}::bigint, ${metadata}::bytea
      WHERE (SELECT count(*) FROM conversations WHERE tenant_id = ${tenantId} AND expires_at > now()) < ${most}
      RETURNING created_at, 0 AS first),
    added AS (${insertOf(sql, { tenantId, id }, items, sql`made`)})
    SELECT created_at FROM made`
  return made?.created_at
}

export async function readConversation(
  sql: Sql,
  scope: ConversationScope,
  id: string,
): Promise<ConversationRow | undefined> {
  const [row] = await sql<ConversationRow[]>`
    SELECT created_at, metadata FROM conversations c WHERE ${named(sql, scope, id)}`
  return row
}

/** Replaces the metadata, and extends the life of the conversation to these days from now. */
export async function updateConversation(
  sql: Sql,
  scope: ConversationScope,
  id: string,
  { metadata, days }: { metadata: Buffer; days: number },
): Promise<Date | undefined> {
  const [row] = await sql<{ created_at: Date }[]>`
    UPDATE conversations c SET metadata = ${metadata}, expires_at = ${later(sql, days)},
      bytes = bytes - octet_length(metadata) + ${metadata.length}
    WHERE ${named(sql, scope, id)} RETURNING created_at`
  return row?.created_at
}

/** Deletes a conversation and its items. Returns false when it does not exist. */
export async function deleteConversation(sql: Sql, scope: ConversationScope, id: string): Promise<boolean> {
  const { count } = await sql`DELETE FROM conversations c WHERE ${named(sql, scope, id)}`
  return count > 0
}

/** A conversation that is claimed by a request. */
export interface ClaimedConversation {
  next_position: number
  items: number
  bytes: number
}

/**
 * Claims a conversation for a request and extends its lifetime to `days` from now, unless another request has
 * claimed it. The claim of a dead process does not count. For the reason to use a count, see `claimAnswer`.
 */
export async function claimConversation(
  sql: Sql,
  scope: ConversationScope,
  id: string,
  { requestId, instanceId, deadMs, days }: TurnClaimant & { days: number },
): Promise<ClaimedConversation | 'locked' | 'none'> {
  const [row] = await sql<(ClaimedConversation & { claimed: boolean; found: boolean })[]>`
    WITH claim AS (
      UPDATE conversations c SET claimed_by = ${instanceId}, claimed_for = ${requestId}, expires_at = ${later(sql, days)}
      WHERE ${named(sql, scope, id)} AND ${isFree(sql, requestId, deadMs)}
      RETURNING next_position, items, bytes::float8 AS bytes)
    SELECT claim.*, claim.items IS NOT NULL AS claimed,
      EXISTS (SELECT FROM conversations c WHERE ${named(sql, scope, id)}) AS found
    FROM (SELECT 1) one LEFT JOIN claim ON true`
  if (row?.claimed === true) return row
  return row?.found === true ? 'locked' : 'none'
}

/**
 * Ends the claim, so that the next request can begin. Does nothing when this request's answer has already
 * been added.
 */
export async function releaseConversation(
  sql: Sql,
  tenantId: string,
  id: string,
  requestId: string,
): Promise<void> {
  await sql`
    UPDATE conversations SET claimed_by = NULL, claimed_for = NULL
    WHERE tenant_id = ${tenantId} AND id = ${id} AND claimed_for = ${requestId}`
}

/**
 * Adds the items of a request and its answer, keeps the answer if it is given, and ends the claim, all in one
 * statement. Returns false when the request has lost the conversation, in which case nothing was added.
 */
export async function appendTurn(
  sql: Sql,
  turn: { tenantId: string; id: string; requestId: string; days: number },
  items: readonly SealedItem[],
  answer: { row: NewKeptRow; days: number } | undefined,
): Promise<boolean> {
  const { tenantId, id, requestId, days } = turn
  const kept =
    answer === undefined
      ? sql``
      : sql`, kept AS (${insertOfAnswer(sql, answer, sql`held`)} ON CONFLICT DO NOTHING)`
  const rows = await sql`
    WITH held AS (
      UPDATE conversations c SET next_position = next_position + ${items.length}, items = items + ${items.length},
        bytes = bytes + ${sealedBytes(items)}, expires_at = ${later(sql, days)}, claimed_by = NULL, claimed_for = NULL
      WHERE tenant_id = ${tenantId} AND id = ${id} AND claimed_for = ${requestId}
      RETURNING next_position - ${items.length} AS first),
    added AS (${insertOf(sql, { tenantId, id }, items, sql`held`)})${kept}
    SELECT first FROM held`
  return rows.length > 0
}

/**
 * Adds items outside of requests. Returns the verdicts of `claimConversation`, or `full` when the
 * conversation would have too many items or bytes.
 */
export async function addItems(
  sql: Sql,
  scope: ConversationScope,
  id: string,
  { items, requestId, deadMs, days, itemsMax, bytesMax }: ItemsTerms,
): Promise<'added' | 'locked' | 'full' | 'none'> {
  const { tenantId } = scope
  const added = sealedBytes(items)
  const [row] = await sql<{ added: boolean; found: boolean; fits: boolean | null }[]>`
    WITH held AS (
      UPDATE conversations c SET next_position = next_position + ${items.length}, items = items + ${items.length},
        bytes = bytes + ${added}, expires_at = ${later(sql, days)}
      WHERE ${named(sql, scope, id)} AND ${isFree(sql, requestId, deadMs)}
        AND items + ${items.length} <= ${itemsMax} AND bytes + ${added} <= ${bytesMax}
      RETURNING next_position - ${items.length} AS first),
    added AS (${insertOf(sql, { tenantId, id }, items, sql`held`)})
    SELECT EXISTS (SELECT FROM held) AS added, c.id IS NOT NULL AS found,
      items + ${items.length} <= ${itemsMax} AND bytes + ${added} <= ${bytesMax} AS fits
    FROM (SELECT 1) one LEFT JOIN conversations c ON ${named(sql, scope, id)}`
  if (row?.added === true) return 'added'
  if (row?.found !== true) return 'none'
  return row.fits === true ? 'locked' : 'full'
}

interface ItemsTerms extends Pick<TurnClaimant, 'requestId' | 'deadMs'> {
  items: readonly SealedItem[]
  days: number
  itemsMax: number
  bytesMax: number
}

/** Returns the items before this position that requests send; `bytes` is their total size. */
export async function readSentItems(
  sql: Sql,
  tenantId: string,
  id: string,
  before: number,
): Promise<ItemRow[]> {
  return await sql<ItemRow[]>`
    SELECT item_id, content FROM conversation_items
    WHERE tenant_id = ${tenantId} AND conversation_id = ${id} AND position < ${before} AND is_sent ORDER BY position`
}

/**
 * Returns the state of a conversation before this position; undefined when the conversation does not exist.
 */
export async function sizeBefore(
  sql: Sql,
  tenantId: string,
  id: string,
  before: number | undefined,
): Promise<{ next: number; bytes: number } | undefined> {
  const [row] = await sql<{ next: number; bytes: number }[]>`
    SELECT c.next_position AS next, coalesce((
      SELECT sum(i.bytes) FROM conversation_items i WHERE i.tenant_id = c.tenant_id AND i.conversation_id = c.id
        AND i.is_sent AND i.position < ${before ?? null}::integer), c.bytes)::float8 AS bytes
    FROM conversations c WHERE c.tenant_id = ${tenantId} AND c.id = ${id} AND c.expires_at > now()`
  return row
}

/** `after` is the item before the page. Returns undefined when that item does not exist. */
export async function readPage(
  sql: Sql,
  tenantId: string,
  id: string,
  { after, order, limit }: { after: string | undefined; order: 'asc' | 'desc'; limit: number },
): Promise<ItemRow[] | undefined> {
  const isAsc = order === 'asc'
  let from: number | undefined
  if (after !== undefined) {
    const [last] = await sql<{ position: number }[]>`
      SELECT position FROM conversation_items
      WHERE tenant_id = ${tenantId} AND conversation_id = ${id} AND item_id = ${after}
      ORDER BY position ${isAsc ? sql`DESC` : sql`ASC`} LIMIT 1`
    if (last === undefined) return undefined
    from = last.position
  }
  const behind =
    from === undefined ? sql`` : isAsc ? sql`AND position > ${from}` : sql`AND position < ${from}`
  return await sql<ItemRow[]>`
    SELECT item_id, content FROM conversation_items
    WHERE tenant_id = ${tenantId} AND conversation_id = ${id} ${behind}
    ORDER BY position ${isAsc ? sql`ASC` : sql`DESC`} LIMIT ${limit}`
}

export async function readItem(
  sql: Sql,
  tenantId: string,
  id: string,
  itemId: string,
): Promise<ItemRow | undefined> {
  const [row] = await sql<ItemRow[]>`
    SELECT item_id, content FROM conversation_items
    WHERE tenant_id = ${tenantId} AND conversation_id = ${id} AND item_id = ${itemId} ORDER BY position LIMIT 1`
  return row
}

/** Returns false when the item does not exist. */
export async function deleteItem(sql: Sql, tenantId: string, id: string, itemId: string): Promise<boolean> {
  const { count } = await sql`
    WITH gone AS (
      DELETE FROM conversation_items
      WHERE tenant_id = ${tenantId} AND conversation_id = ${id} AND item_id = ${itemId} RETURNING bytes)
    UPDATE conversations SET items = items - (SELECT count(*) FROM gone), bytes = bytes - (SELECT sum(bytes) FROM gone)
    WHERE tenant_id = ${tenantId} AND id = ${id} AND EXISTS (SELECT FROM gone)`
  return count > 0
}

/**
 * Deletes conversations that have expired, unless another process is doing so or has done so within
 * `apartMs`. Returns the number deleted.
 */
export async function deleteExpiredConversations(sql: Sql, apartMs: number): Promise<number> {
  const [claim] = await sql<{ mine: boolean }[]>`
    SELECT claim_sweep('conversations', ${apartMs}::integer) AS mine`
  if (claim?.mine !== true) return 0
  let deleted = 0
  for (;;) {
    const { count } = await sql`
      DELETE FROM conversations WHERE expires_at <= now() AND (tenant_id, id) IN (
        SELECT tenant_id, id FROM conversations WHERE expires_at <= now() ORDER BY expires_at LIMIT ${atOnce})`
    deleted += count
    if (count === 0) return deleted
  }
}

/** Limits one statement, because each conversation may have thousands of items. */
const atOnce = 50

function named(sql: Sql, { tenantId, keyId }: ConversationScope, id: string): Fragment {
  return sql`c.tenant_id = ${tenantId} AND c.id = ${id} AND c.expires_at > now()
    AND (${keyId ?? null}::uuid IS NULL OR c.key_id = ${keyId ?? null}::uuid)`
}

function isFree(sql: Sql, requestId: string, deadMs: number): Fragment {
  return sql`(
    SELECT count(*) FROM instances i WHERE i.id = c.claimed_by AND c.claimed_for <> ${requestId}
      AND i.state = 'live' AND i.heartbeat_at > now() - make_interval(secs => ${deadMs / 1000})) = 0`
}

/** A key that keeps conversations for fewer days does not shorten what another key has promised. */
function later(sql: Sql, days: number): Fragment {
  return sql`greatest(c.expires_at, now() + make_interval(days => ${days}))`
}

export function sealedBytes(items: readonly SealedItem[]): number {
  return items.reduce((sum, { content }) => sum + content.length, 0)
}

/** `first` is a relation with the position of the first item, or without rows. */
function insertOf(
  sql: Sql,
  { tenantId, id }: { tenantId: string; id: string },
  items: readonly SealedItem[],
  first: Fragment,
): Fragment {
  return sql`
    INSERT INTO conversation_items (tenant_id, conversation_id, position, item_id, created_at, is_sent, bytes, content)
    SELECT ${tenantId}::uuid, ${id}, f.first + i.place::integer - 1, i.id, now(), i.is_sent = 1, i.bytes, decode(i.content, 'base64')
    FROM ${first} f, unnest(
      ${items.map((item) => item.id)}::text[], ${items.map(({ isSent }) => Number(isSent))}::int4[],
      ${items.map(({ content }) => content.length)}::int4[],
      ${items.map(({ content }) => content.toString('base64'))}::text[]
    ) WITH ORDINALITY AS i (id, is_sent, bytes, content, place)`
}
