// All tables, for drizzle and drizzle-kit.
export * from './schema-access.ts'
export * from './schema-admin.ts'
export * from './schema-catalog.ts'
export * from './schema-jobs.ts'
export * from './schema-ledger.ts'
export * from './schema-probes.ts'
export * from './schema-secrets.ts'
export * from './schema-rollups.ts'
