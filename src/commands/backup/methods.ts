/** How the database of a backup was read. */
export const methods = ['copy', 'pg_dump', 'pg_basebackup'] as const
export type Method = (typeof methods)[number]
