import type { Sql } from 'postgres'
import { type Finding, findingsOf, inShell } from '../../canonical/finding.ts'

const { well, warning, wrong } = findingsOf('database')
const docs = 'docs/reference/deployment.md#a-postgres-of-your-own'

interface Rights {
  user: string
  database: string
  schema: string | null
  createsSchemas: boolean
  createsTables: boolean
  hasSchemas: boolean
  /** The owner of the tables; null if there are no tables. */
  owner: string | null
  owns: boolean | null
  uses: boolean | null
}

/**
 * Checks whether this user has the rights that a start needs: to create tables, functions, triggers and
 * partitions.
 */
export async function checkRights(sql: Sql): Promise<Finding[]> {
  const rights = await readRights(sql)
  if (rights === undefined) return []
  const { user, owner } = rights
  const lacking = lackingIn(rights)
  if (lacking.length > 0) {
    return [
      wrong('database.rights', `the user "${user}" lacks rights in the database`, {
        why: `It is not allowed to ${lacking.join(', or to ')}.`,
        fix: 'Run this as a superuser:',
        run: grantsOf(rights),
        docs,
      }),
    ]
  }
  if (owner !== null && rights.owns !== true) {
    return [
      warning('database.not_owner', `the user "${user}" does not own the tables; "${owner}" does`, {
        why: 'The gateway can serve requests, but cannot migrate to a later release or create partitions for future days.',
        fix: `Keep a process running as "${owner}", or run this as a superuser:`,
        run: psql(`GRANT "${owner}" TO "${user}"`, rights.database),
        docs: 'docs/reference/deployment.md#upgrade',
      }),
    ]
  }
  const role = owner === null ? 'can create tables, functions, triggers and partitions' : 'owns the tables'
  return [well('database.rights', `the user "${user}" ${role}`)]
}

async function readRights(sql: Sql): Promise<Rights | undefined> {
  const [rights] = await sql<Rights[]>`
    WITH tables AS (
      SELECT c.oid, c.relowner FROM pg_class c
      WHERE c.relname = 'requests' AND c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind IN ('r', 'p')
    )
    SELECT current_user AS "user", current_database() AS database, current_schema() AS schema,
      has_database_privilege(current_database(), 'CREATE') AS "createsSchemas",
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "createsTables",
      (SELECT count(*) = 2 FROM pg_namespace WHERE nspname IN ('drizzle', 'bullmq')) AS "hasSchemas",
      (SELECT pg_get_userbyid(relowner) FROM tables) AS owner,
      (SELECT pg_has_role(relowner, 'USAGE') FROM tables) AS owns,
      (SELECT has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') FROM tables) AS uses`
  return rights
}

function lackingIn({
  createsSchemas,
  createsTables,
  hasSchemas,
  owner,
  owns,
  uses,
  schema,
}: Rights): string[] {
  if (owner !== null && owns !== true) return uses === true ? [] : ['read and write the tables']
  return [
    ...(createsTables ? [] : [`create tables in the schema "${schema ?? 'public'}"`]),
    ...(createsSchemas || (owner !== null && hasSchemas)
      ? []
      : ['create the schemas of the migrations and the queue']),
  ]
}

function grantsOf({ user, database, owner, owns }: Rights): string {
  if (owner !== null && owns !== true) return psql(`GRANT "${owner}" TO "${user}"`, database)
  return psql(`ALTER DATABASE "${database}" OWNER TO "${user}"`, database)
}

function psql(statement: string, database: string): string {
  return `psql -d ${inShell(database)} -c ${inShell(statement)}`
}
