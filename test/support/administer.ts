import postgres from 'postgres'

/** Run one statement outside any transaction, as making and dropping databases needs. */
export async function administer(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
