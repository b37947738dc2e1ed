import { openDatabase } from '../support/database.ts'

/** The rows of chats in the usage log of a database, by their end user. */
export async function loggedRows(url: string): Promise<Map<string, Record<string, unknown>>> {
  const database = openDatabase(url)
  try {
    const rows = await database.sql`SELECT * FROM requests WHERE endpoint = '/v1/chat/completions'`
    return new Map(rows.map((row) => [String(row.end_user), { ...row }]))
  } finally {
    await database.close()
  }
}
