import type { Sql } from 'postgres'

/**
 * Sets the maximum that a tenant can keep in storage. It applies at once to every statement of every process.
 */
export async function writeStorageQuota(sql: Sql, bytesMax: number): Promise<void> {
  await sql`
    INSERT INTO storage_quota AS q (bytes_max) VALUES (${bytesMax})
    ON CONFLICT (id) DO UPDATE SET bytes_max = excluded.bytes_max WHERE q.bytes_max <> excluded.bytes_max`
}
