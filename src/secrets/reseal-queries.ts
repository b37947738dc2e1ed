import type { Sql } from 'postgres'

/** A sealed value of a row, and the owner that it is bound to. */
export interface SealedValue {
  /** Names the row for `replace`. */
  key: string
  sealed: Buffer
  owner: string
}

/** A column with sealed values. */
export interface SealedColumn {
  name:
    | 'credentials'
    | 'connections'
    | 'bodies of jobs'
    | 'webhooks of jobs'
    | 'webhooks of alerts'
    | 'kept answers'
    | 'kept answers of the admin API'
    | 'second factors'
  purpose: 'credential' | 'job' | 'alertWebhook' | 'answer' | 'totp'
  /** A page of at most `rows` values after this key, in the order of their keys. */
  read(sql: Sql, after: string, rows: number): Promise<SealedValue[]>
  /** Put another value in place of this one, unless it has changed. */
  replace(sql: Sql, value: SealedValue, sealed: Buffer, keyId: string): Promise<unknown>
}

/** All columns that hold sealed values: a new one is listed here. */
export const sealedColumns: readonly SealedColumn[] = [
  {
    name: 'credentials',
    purpose: 'credential',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT channel_id || ' ' || lpad(ordinal::text, 5, '0') AS key, sealed, channel_id::text AS owner
      FROM channel_credentials
      WHERE channel_id || ' ' || lpad(ordinal::text, 5, '0') > ${after} ORDER BY 1 LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed, keyId) => sql`
      UPDATE channel_credentials SET sealed = ${sealed}, key_id = ${keyId}
      WHERE channel_id = ${key.slice(0, 36)}::uuid AND ordinal = ${Number(key.slice(37))} AND sealed = ${before}`,
  },
  {
    name: 'connections',
    purpose: 'credential',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT id::text AS key, connection_sealed AS sealed, id || ' connection' AS owner FROM channels
      WHERE connection_sealed IS NOT NULL AND id::text > ${after} ORDER BY id::text LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed, keyId) => sql`
      UPDATE channels SET connection_sealed = ${sealed}, connection_key_id = ${keyId}
      WHERE id = ${key}::uuid AND connection_sealed = ${before}`,
  },
  {
    name: 'bodies of jobs',
    purpose: 'job',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT id::text AS key, request AS sealed, id || ' request' AS owner FROM image_jobs
      WHERE request IS NOT NULL AND id > ${after || leastId}::uuid ORDER BY id LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE image_jobs SET request = ${sealed} WHERE id = ${key}::uuid AND request = ${before}`,
  },
  {
    name: 'webhooks of jobs',
    purpose: 'job',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT id::text AS key, webhook_url AS sealed, id || ' webhook' AS owner FROM image_jobs
      WHERE webhook_url IS NOT NULL AND id > ${after || leastId}::uuid ORDER BY id LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE image_jobs SET webhook_url = ${sealed} WHERE id = ${key}::uuid AND webhook_url = ${before}`,
  },
  {
    name: 'webhooks of alerts',
    purpose: 'alertWebhook',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT id::text AS key, webhook_sealed AS sealed, id::text AS owner FROM alert_rules
      WHERE webhook_sealed IS NOT NULL AND id > ${after || leastId}::uuid ORDER BY id LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE alert_rules SET webhook_sealed = ${sealed} WHERE id = ${key}::uuid AND webhook_sealed = ${before}`,
  },
  {
    name: 'kept answers',
    purpose: 'answer',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT key_id || ' ' || encode(key_hash, 'hex') AS key, answer AS sealed, request_id::text AS owner
      FROM idempotency_keys
      WHERE answer IS NOT NULL AND (key_id, key_hash)
        > (${after.slice(0, 36) || leastId}::uuid, decode(${after.slice(37)}, 'hex'))
      ORDER BY key_id, key_hash LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE idempotency_keys SET answer = ${sealed}
      WHERE key_id = ${key.slice(0, 36)}::uuid AND key_hash = decode(${key.slice(37)}, 'hex') AND answer = ${before}`,
  },
  {
    name: 'kept answers of the admin API',
    purpose: 'answer',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT user_id || ' ' || encode(key_hash, 'hex') AS key, answer AS sealed, request_id::text AS owner
      FROM admin_answers
      WHERE answer IS NOT NULL AND (user_id, key_hash)
        > (${after.slice(0, 36) || leastId}::uuid, decode(${after.slice(37)}, 'hex'))
      ORDER BY user_id, key_hash LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE admin_answers SET answer = ${sealed}
      WHERE user_id = ${key.slice(0, 36)}::uuid AND key_hash = decode(${key.slice(37)}, 'hex') AND answer = ${before}`,
  },
  {
    name: 'second factors',
    purpose: 'totp',
    read: (sql, after, rows) => sql<SealedValue[]>`
      SELECT id::text AS key, totp_secret AS sealed, id::text AS owner FROM users
      WHERE totp_secret IS NOT NULL AND id > ${after || leastId}::uuid ORDER BY id LIMIT ${rows}`,
    replace: (sql, { key, sealed: before }, sealed) => sql`
      UPDATE users SET totp_secret = ${sealed} WHERE id = ${key}::uuid AND totp_secret = ${before}`,
  },
]

const leastId = '00000000-0000-0000-0000-000000000000'
