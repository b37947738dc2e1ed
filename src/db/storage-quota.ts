import type { Sql } from 'postgres'

/** From now on no tenant may leave more in storage, in whatever statement, of whatever process. */
export async function writeStorageQuota(sql: Sql, bytesMax: number): Promise<void> {
  await sql`
    INSERT INTO storage_quota AS q (bytes_max) VALUES (${bytesMax})
    ON CONFLICT (id) DO UPDATE SET bytes_max = excluded.bytes_max WHERE q.bytes_max <> excluded.bytes_max`
}
