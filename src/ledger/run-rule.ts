import type { Sql } from 'postgres'

/** Asks Postgres one statement. */
export type AskOne = <T>(statement: (sql: Sql) => PromiseLike<T>) => Promise<T>

/** Asks a statement that checks a rule. */
export type RunRule = <T>(rule: string, statement: (sql: Sql) => PromiseLike<T>) => Promise<T>
