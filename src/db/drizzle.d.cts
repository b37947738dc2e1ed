export * from 'drizzle-orm'
export * from 'drizzle-orm/pg-core'
export * from 'drizzle-orm/postgres-js'
export * from 'drizzle-orm/postgres-js/migrator'
