export * from 'drizzle-orm/node-postgres'
