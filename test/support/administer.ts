import postgres from 'postgres'

/** Run one statement outside of any transaction: CREATE DATABASE and DROP DATABASE need that. */
export async function administer(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}
