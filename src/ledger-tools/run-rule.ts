import type { Sql } from 'postgres'

/** Runs one statement in Postgres. */
export type AskOne = <T>(statement: (sql: Sql) => PromiseLike<T>) => Promise<T>

/** Runs a statement that checks a rule. */
export type RunRule = <T>(rule: string, statement: (sql: Sql) => PromiseLike<T>) => Promise<T>
