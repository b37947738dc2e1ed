import type { Sql } from 'postgres'

/** A sealed value in a row, and the owner that it is bound to. */
export interface SealedValue {
  /** The values of the primary key's columns, as text. */
  key: string[]
  sealed: Buffer
  owner: string
}

/** A column with sealed values. */
export interface SealedColumn {
  name:
    | 'credentials'
    | 'connections'
    | 'job bodies'
    | 'job webhooks'
    | 'background answers'
    | 'background answer events'
    | 'alert webhooks'
    | 'kept answers'
    | 'kept admin API answers'
    | 'answers for later requests'
    | 'conversations'
    | 'conversation items'
    | 'second factors'
    | 'file names'
  purpose: 'credential' | 'job' | 'alertWebhook' | 'answer' | 'keptAnswer' | 'totp' | 'upload'
  table: string
  column: string
  /** The columns of the primary key, in order, with their types. */
  key: Readonly<Record<string, 'uuid' | 'smallint' | 'integer' | 'bytea' | 'text'>>
  /** An SQL expression. */
  owner: string
  /** The column that stores the id of the master key that sealed the value, if there is one. */
  keyId?: string
}

/** All columns that hold sealed values. Every new one must be added here. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    name: 'credentials',
    purpose: 'credential',
    table: 'channel_credentials',
    column: 'sealed',
    key: { channel_id: 'uuid', ordinal: 'smallint' },
    owner: 'channel_id::text',
    keyId: 'key_id',
  },
  {
    name: 'connections',
    purpose: 'credential',
    table: 'channels',
    column: 'connection_sealed',
    key: { id: 'uuid' },
    owner: "id || ' connection'",
    keyId: 'connection_key_id',
  },
  {
    name: 'job bodies',
    purpose: 'job',
    table: 'jobs',
    column: 'request',
    key: { id: 'uuid' },
    owner: "id || ' request'",
  },
  {
    name: 'job webhooks',
    purpose: 'job',
    table: 'jobs',
    column: 'webhook_url',
    key: { id: 'uuid' },
    owner: "id || ' webhook'",
  },
  {
    name: 'background answers',
    purpose: 'job',
    table: 'background_answers',
    column: 'answer',
    key: { job_id: 'uuid' },
    owner: "job_id || ' answer'",
  },
  {
    name: 'background answer events',
    purpose: 'job',
    table: 'answer_events',
    column: 'content',
    key: { job_id: 'uuid', first: 'integer' },
    owner: "job_id || ' events ' || first",
  },
  {
    name: 'alert webhooks',
    purpose: 'alertWebhook',
    table: 'alert_rules',
    column: 'webhook_sealed',
    key: { id: 'uuid' },
    owner: 'id::text',
  },
  {
    name: 'kept answers',
    purpose: 'answer',
    table: 'idempotency_keys',
    column: 'answer',
    key: { key_id: 'uuid', key_hash: 'bytea' },
    owner: 'request_id::text',
  },
  {
    name: 'answers for later requests',
    purpose: 'keptAnswer',
    table: 'kept_answers',
    column: 'content',
    key: { tenant_id: 'uuid', id: 'text' },
    owner: "tenant_id || ' ' || id",
  },
  {
    name: 'conversations',
    purpose: 'keptAnswer',
    table: 'conversations',
    column: 'metadata',
    key: { tenant_id: 'uuid', id: 'text' },
    owner: "tenant_id || ' ' || id",
  },
  {
    name: 'conversation items',
    purpose: 'keptAnswer',
    table: 'conversation_items',
    column: 'content',
    key: { tenant_id: 'uuid', conversation_id: 'text', position: 'integer' },
    owner: "tenant_id || ' ' || conversation_id || ' ' || item_id",
  },
  {
    name: 'kept admin API answers',
    purpose: 'answer',
    table: 'admin_answers',
    column: 'answer',
    key: { user_id: 'uuid', key_hash: 'bytea' },
    owner: 'request_id::text',
  },
  {
    name: 'second factors',
    purpose: 'totp',
    table: 'users',
    column: 'totp_secret',
    key: { id: 'uuid' },
    owner: 'id::text',
  },
  {
    name: 'file names',
    purpose: 'upload',
    table: 'files',
    column: 'filename',
    key: { id: 'text' },
    owner: 'id',
  },
]

/** Returns a page of at most `rows` values after the given key, in key order. */
export async function readSealed(
  sql: Sql,
  { table, column, key, owner }: SealedColumn,
  after: readonly string[] | undefined,
  rows: number,
): Promise<SealedValue[]> {
  const names = Object.keys(key).join(', ')
  const texts = Object.keys(key).map((name) => `${name}::text`)
  const behind = after === undefined ? '' : `AND (${names}) > (${placesOf(key, 2)})`
  return await sql.unsafe<SealedValue[]>(
    `SELECT ARRAY[${texts.join(', ')}] AS key, ${column} AS sealed, ${owner} AS owner FROM ${table}
    WHERE ${column} IS NOT NULL ${behind} ORDER BY ${names} LIMIT $1`,
    [rows, ...(after ?? [])],
  )
}

/** Replaces a sealed value, unless the stored value has changed since it was read. */
export async function replaceSealed(
  sql: Sql,
  { table, column, key, keyId }: SealedColumn,
  value: SealedValue,
  sealed: Buffer,
  masterId: string,
): Promise<void> {
  const names = Object.keys(key).join(', ')
  const noted = keyId === undefined ? '' : `, ${keyId} = $3`
  const values = [sealed, value.sealed, ...(keyId === undefined ? [] : [masterId])]
  await sql.unsafe(
    `UPDATE ${table} SET ${column} = $1${noted}
    WHERE (${names}) = (${placesOf(key, values.length + 1)}) AND ${column} = $2`,
    [...values, ...value.key],
  )
}

/** The SQL placeholders for a key's columns, numbered from `first`. */
function placesOf(key: SealedColumn['key'], first: number): string {
  return Object.values(key)
    .map((type, index) => `$${first + index}::text::${type}`)
    .join(', ')
}
